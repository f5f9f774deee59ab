import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttp } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Listener } from "../../src/adapters/listener.ts";
import { serveOnNode } from "../../src/adapters/node.ts";
import { createAuthority, issueServer } from "../../src/cli/certificates.ts";
import { type CertificateSet, makeCertificates } from "../../src/cli/certs/folder.ts";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { berth } from "./project.ts";

const project = { folder: join(import.meta.dirname, "..", "..") } as Parameters<typeof berth>[0];
const SECRET = "a-path-secret-of-this-test-4711";

const POLICY = `apiVersion: berth.dev/v1alpha1
kind: PolicyConfiguration
profiles:
  - name: default
    plugins: [{ name: NodeLabel, args: { forbid: { team: [none] } } }]
  - name: other
    plugins: []
callers:
  - name: cluster-a
    credentials: [{ certificate: kube-scheduler }, { path: CLUSTER_A_PATH }]
    profiles: [default]
`;

let folder: string;
let certificates: CertificateSet;
let running: Listener;
const cleanups: (() => unknown)[] = [];
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-doctor-"));
  certificates = await makeCertificates(file("certs"), { names: ["localhost", "127.0.0.1"] });
  await writeFile(file("berth.yaml"), POLICY);
  await writeFile(file("facts.json"), '{"apiVersion":"berth.dev/v1alpha1","kind":"FleetFacts"}');
  running = await serve({});
});
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
  await rm(folder, { recursive: true });
});

async function serve(more: Partial<Parameters<typeof serveOnNode>[0]>): Promise<Listener> {
  const { certificate: certFile, key: keyFile } = certificates.files.server;
  const tls = { certFile, keyFile, clientCaFile: certificates.files.authority.certificate };
  const settings = {
    configFile: file("berth.yaml"),
    factsFile: file("facts.json"),
    host: "127.0.0.1",
    port: 0,
    tls,
    openOnLoopback: false,
    bodyLimit: 32 * 2 ** 20,
    secret: () => SECRET,
    ...more,
  };
  const listener = await serveOnNode(settings, () => undefined);
  cleanups.push(() => listener.stop());
  return listener;
}

/** A server with another certificate than the function's; `null`: plain HTTP. */
async function standIn(pair: { certificate: string; key: string } | null, delayMs = 0): Promise<string> {
  const answer = (_: unknown, response: import("node:http").ServerResponse) =>
    void setTimeout(() => response.setHeader("Berth-Request", "1").end("{}"), delayMs);
  const server = pair ? createHttps({ cert: pair.certificate, key: pair.key }, answer) : createHttp(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Seen {
  readonly code: number;
  readonly findings: readonly Finding[];
  readonly text: string;
  step(name: string): Finding | undefined;
}

const identity = () => {
  const { certificate, key } = certificates.files.client;
  return ["--cert", certificate, "--key", key];
};
const trust = () => ["--ca", certificates.files.authority.certificate];

async function doctor(...args: string[]): Promise<Seen> {
  const { code, stdout, stderr } = await berth(project, ["doctor", "--output", "json", "--calls", "3", ...args]);
  const { findings } = JSON.parse(stdout || "{}") as { findings: readonly Finding[] };
  return { code, findings, text: stdout + stderr, step: (name) => findings?.find(({ step }) => step === name) };
}

describe("berth doctor", () => {
  it("finds nothing wrong with a function that is called as it should be", async () => {
    const seen = await doctor(`${running.url}/default`, ...trust(), ...identity());
    expect(seen.findings.filter(({ status }) => status === "failed" || status === "warning")).toEqual([]);
    expect(seen.code).toBe(0);
    expect(seen.step("TLS")?.what).toMatch(/^TLSv1\.3, verified by the configuration's authority, valid until /);
    expect(seen.step("HTTP")?.what).toMatch(/^HTTP\/2/);
    expect(seen.step("filter")?.what).toMatch(/^100 nodes, \d+ kB .* p50 \d+ ms, p99 \d+ ms of 3 calls/);
  });

  it("shows a table where people read it, and never the secret of the path", async () => {
    const { code, stdout, stderr } = await berth(project, ["doctor", `${running.url}/${SECRET}/default`, ...trust()]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\/…\/default: well$/m);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it("takes the extender from a scheduler's configuration, with its verbs and its way to verify", async () => {
    const extender = { urlPrefix: `${running.url}/${SECRET}/default`, prioritizeVerb: "prioritize", enableHTTPS: true };
    const kind = { apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration" };
    await writeFile(file("scheduler.yaml"), JSON.stringify({ ...kind, extenders: [extender] }));
    const seen = await doctor("--config", file("scheduler.yaml"));
    expect(seen.code).toBe(3);
    expect(seen.step("TLS")).toMatchObject({ status: "warning", what: expect.stringContaining("Nobody checks") });
    expect(seen.step("filter")).toBeUndefined();
    expect(seen.step("prioritize")?.status).toBe("ok");
  });

  /** Each fault, how it is met, the one step that names it, and words of its sentence and of its mend. */
  const faults: readonly [string, () => Promise<string[]>, string, RegExp, RegExp][] = [
    ["a closed port", async () => ["http://127.0.0.1:9/default"], "TCP", /closed/, /Start the function/],
    [
      "a wrong host",
      async () => ["https://berth.invalid/default"],
      "DNS",
      /not a name that this machine knows/,
      /Correct the host/,
    ],
    [
      "a name that only the cluster's DNS knows",
      async () => ["https://berth-binder.berth-system.svc/default"],
      "DNS",
      /not a name/,
      /ClusterIP/,
    ],
    [
      "an expired certificate",
      async () => {
        const now = new Date(Date.now() - 10 * 24 * 3600 * 1000);
        const pair = await issueServer(certificates.authority, { names: ["127.0.0.1"], days: 5, now });
        return [`${await standIn(pair)}/default`, ...trust()];
      },
      "TLS",
      /ended on/,
      /certs --renew/,
    ],
    [
      "a missing IP SAN",
      async () => {
        const pair = await issueServer(certificates.authority, { names: ["berth.example.com"], days: 5 });
        return [`${await standIn(pair)}/default`, ...trust()];
      },
      "TLS",
      /no IP SAN 127\.0\.0\.1.*DNS:berth\.example\.com/,
      /certs --name 127\.0\.0\.1/,
    ],
    [
      "a certificate for another name",
      async () => {
        const pair = await issueServer(certificates.authority, { names: ["berth.example.com"], days: 5 });
        return [`${(await standIn(pair)).replace("127.0.0.1", "localhost")}/default`, ...trust()];
      },
      "TLS",
      /not for localhost/,
      /certs --name localhost/,
    ],
    [
      "an unknown authority",
      async () => {
        const other = await createAuthority({ name: "Somebody else", days: 5 });
        const pair = await issueServer(other, { names: ["127.0.0.1"], days: 5 });
        return [`${await standIn(pair)}/default`, ...trust()];
      },
      "TLS",
      /issued by "Somebody else", which is not the authority of the configuration/,
      /tlsConfig\.caData/,
    ],
    [
      "an authority that the machine does not know",
      async () => [`${running.url}/default`],
      "TLS",
      /which this machine does not know/,
      /tlsConfig\.caData/,
    ],
    [
      "plain HTTP where HTTPS is expected",
      async () => [`${await standIn(null)}/default`, ...trust()],
      "TLS",
      /speaks plain HTTP/,
      /BERTH_TLS_CERT/,
    ],
    [
      "a wrong path",
      async () => [`${running.url}/api/v1/default`, ...trust(), ...identity()],
      "profile",
      /No such path/,
      /Correct urlPrefix/,
    ],
    [
      "a missing credential",
      async () => [`${running.url}/default`, ...trust()],
      "profile",
      /missing or not accepted/,
      /None was sent/,
    ],
    [
      "a wrong credential",
      async () => {
        const other = await makeCertificates(file("other"), { names: ["localhost"], client: "somebody" });
        const { certificate, key } = other.files.client;
        return [`${running.url}/default`, ...trust(), "--cert", certificate, "--key", key];
      },
      "profile",
      /missing or not accepted/,
      /an authority that BERTH_CLIENT_CA does not hold, or its name is no caller's/,
    ],
    [
      "a caller without the profile",
      async () => [`${running.url}/other`, ...trust(), ...identity()],
      "profile",
      /may not ask this profile/,
      /`profiles` in berth\.yaml/,
    ],
    [
      "a body over the limit",
      async () => {
        const small = await serve({ bodyLimit: 100_000 });
        return [`${small.url}/default`, ...trust(), ...identity()];
      },
      "filter",
      /Over the body limit: 100 nodes are \d+ kB/,
      /BERTH_BODY_LIMIT/,
    ],
    [
      "a slow function",
      async () => [`${await standIn(certificates.server, 3000)}/default`, ...trust(), "--timeout", "200ms"],
      "profile",
      /Too slow: no answer within 200ms/,
      /nearer/,
    ],
  ];

  it.each(faults)("tells %s apart and says what to do", async (...[, met, ...expected]) => {
    const [step, what, mend] = expected;
    const seen = await doctor(...(await met()));
    const failed = seen.findings.filter(({ status }) => status === "failed");
    expect(failed).toEqual([
      { step, status: "failed", what: expect.stringMatching(what), mend: expect.stringMatching(mend) },
    ]);
    expect(seen.code).toBe(2);
  });

  it.each([
    [[], "give either a URL"],
    [["nowhere"], "the URL is not one"],
    [["--config", "/nowhere.yaml"], "there is no such file"],
    [["https://127.0.0.1/default", "--ca", "/nowhere.crt"], "caFile /nowhere.crt cannot be read"],
  ])("says with exit code 1 when there is nothing to look at: %j", async (args, message) => {
    const { code, stderr } = await berth(project, ["doctor", ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });
});
