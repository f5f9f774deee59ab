import { lookup } from "node:dns/promises";
import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Finding, ok, wrong } from "./finding.ts";
import type { Target } from "./target.ts";
import { type Handshake, judgeCertificate } from "./trust.ts";

/** How far one gets on the way to a server. */
export interface Reached {
  readonly findings: readonly Finding[];
  /** The application protocol that the handshake agreed on. */
  readonly protocol?: string;
}

const PATIENCE_MS = 5_000;

/** Finds a server's address, connects, and shakes hands: each step only when the one before went well. */
export async function reach(target: Target, now: () => number): Promise<Reached> {
  const findings: Finding[] = [];
  for (const step of [findName, connectTo]) {
    const finding = await step(target);
    findings.push(finding);
    if (finding.status === "failed") return { findings };
  }
  if (!target.address.https) return { findings: [...findings, plain(target)] };
  const hands = await handshake(target);
  if ("status" in hands) return { findings: [...findings, hands] };
  findings.push(...judgeCertificate(target, hands, now()));
  return { findings, ...(hands.protocol !== undefined && { protocol: hands.protocol }) };
}

function plain({ address }: Target): Finding {
  return address.loopback
    ? ok("TLS", "None: plain HTTP, which does not leave this machine.")
    : wrong("TLS", "warning", "None: pods travel readable over the network.", "Serve HTTPS and call https://.");
}

async function findName({ address: { host, isIp, clusterName } }: Target): Promise<Finding> {
  if (isIp) return ok("DNS", `Not needed: ${host} is an address.`);
  try {
    const { address } = await lookup(host);
    return ok("DNS", `${host} is ${address} here.`);
  } catch (error) {
    const mend = clusterName
      ? "kube-scheduler on the host network does not ask the cluster's DNS: call the Service's ClusterIP (with that " +
        "address in the certificate), or put the name into hostAliases of its pod. Run doctor on its host."
      : "Correct the host in urlPrefix, or make the name known on kube-scheduler's host. Run doctor on that host.";
    return wrong("DNS", "failed", `${host} is not a name that this machine knows (${codeOf(error)}).`, mend);
  }
}

function portOf({ url, https }: Target["address"]): number {
  return url.port === "" ? (https ? 443 : 80) : Number(url.port);
}

async function connectTo({ address }: Target): Promise<Finding> {
  const port = portOf(address);
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const socket = connectTcp({ host: address.host, port, timeout: PATIENCE_MS });
  socket.on("connect", () => resolve(ok("TCP", `Port ${port} of ${address.host} is open.`)));
  socket.on("timeout", () => resolve(unreachable(address.host, port, `no answer within ${PATIENCE_MS / 1000} s`)));
  socket.on("error", (error) => resolve(unreachable(address.host, port, codeOf(error))));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

function unreachable(host: string, port: number, code: string): Finding {
  if (code === "ECONNREFUSED") {
    return wrong(
      "TCP",
      "failed",
      `Port ${port} of ${host} is closed: nothing listens there.`,
      "Start the function or binder, or correct the port in urlPrefix. A NodePort is not reached over 127.0.0.1.",
    );
  }
  return wrong(
    "TCP",
    "failed",
    `Port ${port} of ${host} cannot be reached (${code}).`,
    "Something on the way lets nothing through: a firewall, a NetworkPolicy, or a route that is missing.",
  );
}

/** Goes on whatever the certificate is; it is judged afterwards, in words. */
async function handshake(target: Target): Promise<Handshake | Finding> {
  const { host, isIp } = target.address;
  const { promise, resolve } = Promise.withResolvers<Handshake | Finding>();
  const name = target.serverName ?? (isIp ? undefined : host);
  const socket = connectTls({
    host,
    port: portOf(target.address),
    ...(name !== undefined && { servername: name }),
    ca: target.trusted as string | string[],
    ...target.client,
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
    ALPNProtocols: ["h2", "http/1.1"],
    timeout: PATIENCE_MS,
  });
  socket.on("secureConnect", () => {
    resolve({
      protocol: socket.alpnProtocol || undefined,
      version: socket.getProtocol(),
      certificate: socket.getPeerCertificate(true),
      chainProblem: socket.authorized ? undefined : String(socket.authorizationError),
    });
  });
  socket.on("timeout", () => resolve(noHandshake(target, `no answer within ${PATIENCE_MS / 1000} s`)));
  socket.on("error", (error) => resolve(noHandshake(target, codeOf(error))));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

function noHandshake({ address }: Target, code: string): Finding {
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|EPROTO/.test(code)) {
    return wrong(
      "TLS",
      "failed",
      "The server speaks plain HTTP where the URL says https.",
      `Give it a certificate (BERTH_TLS_CERT, BERTH_TLS_KEY), or call http://${address.url.host} if it is on this machine.`,
    );
  }
  return wrong("TLS", "failed", `The handshake broke off (${code}).`, "Look at the server's log for the reason.");
}

/** The code of an error; messages may hold more than is to be shown. */
export function codeOf(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code ?? message ?? "unknown";
}
