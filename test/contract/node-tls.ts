import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SecureContextOptions } from "node:tls";
import { afterAll } from "vitest";
import { createAuthority, issueClient, issueServer } from "../../src/cli/certificates.ts";
import type { Call } from "./target.ts";

const folder = await mkdtemp(join(tmpdir(), "berth-contract-"));
afterAll(() => rm(folder, { recursive: true }));

const authority = await createAuthority({ name: "Contract servers", days: 2 });
const clients = await createAuthority({ name: "Contract clients", days: 2 });
const nobody = await createAuthority({ name: "Nobody", days: 2 });
const server = await issueServer(authority, { names: ["127.0.0.1", "localhost"], days: 1 });
const name = "scheduler.cluster-a.example";
const issued = {
  "cluster-a": await issueClient(clients, { name, days: 1 }),
  stranger: await issueClient(nobody, { name, days: 1 }),
} as const;

/** The server's files: its certificate and key, and the authority whose clients it knows. */
export const tlsFiles = {
  certFile: join(folder, "tls.crt"),
  keyFile: join(folder, "tls.key"),
  clientCaFile: join(folder, "clients.crt"),
};
await writeFile(tlsFiles.certFile, server.certificate);
await writeFile(tlsFiles.keyFile, server.key);
await writeFile(tlsFiles.clientCaFile, clients.certificate);

/** The client's side of the handshake, for a call that presents a certificate or none. */
export function handshake({ certificate }: Call = {}): SecureContextOptions {
  const pair = certificate && issued[certificate];
  return { ca: authority.certificate, ...(pair && { cert: pair.certificate, key: pair.key }) };
}
