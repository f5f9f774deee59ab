import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import * as https from "node:https";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { createAuthority } from "../../test/controlplane/authority.ts";
import {
  afterTest,
  connectTo,
  fakeApi,
  fakeTiming,
  kubeconfig,
  refuse,
  reply,
  temporaryFolder,
} from "./api-fixture.ts";
import { connect } from "./connection.ts";

const NODES = { method: "GET", path: "/api/v1/nodes" } as const;
const ACCOUNT = "var/run/secrets/kubernetes.io/serviceaccount";
const authority = await createAuthority("the cluster's authority");
const server = await authority.issue({ name: "kube-apiserver" });

/** A pod's view: an API server with TLS, and the files of a service account. */
async function pod(accepted: { token: string }) {
  const root = `${await temporaryFolder()}/`;
  const file = (name: string): string => join(root, ACCOUNT, name);
  await mkdir(dirname(file("token")), { recursive: true });
  const write = (name: string, text: string): Promise<void> => writeFile(file(name), text);
  await Promise.all([write("ca.crt", authority.caPem), write("token", "first\n"), write("namespace", "berth")]);
  const tls = https.createServer({ cert: server.certPem, key: server.keyPem });
  const api = await fakeApi((arrived, answer) => {
    if (arrived.headers.authorization === `Bearer ${accepted.token}`) reply(answer, 200, {});
    else refuse(answer, 401, "Unauthorized");
  }, tls);
  const { hostname, port } = new URL(api.url);
  vi.stubEnv("KUBERNETES_SERVICE_HOST", hostname);
  vi.stubEnv("KUBERNETES_SERVICE_PORT", port);
  afterTest(() => vi.unstubAllEnvs());
  return { api, root, write };
}

describe("credentials in a cluster", () => {
  it("are the service account's token, namespace and authority", async () => {
    const { api, root } = await pod({ token: "first" });
    const connection = await connect({ inCluster: true, root });
    afterTest(() => connection.close());
    expect(connection).toMatchObject({ namespace: "berth", server: api.url });
    expect(await connection.call(NODES)).toMatchObject({ kind: "ok" });
  });

  it("a call succeeds without a restart after the projected token was rotated (client-js #317)", async () => {
    const accepted = { token: "first" };
    const { api, root, write } = await pod(accepted);
    const connection = await connect({ inCluster: true, root });
    afterTest(() => connection.close());
    expect(await connection.call(NODES)).toMatchObject({ kind: "ok" });
    accepted.token = "second";
    await write("token", "second\n");
    const answers = await Promise.all([connection.call(NODES), connection.call({ ...NODES, method: "DELETE" })]);
    expect(answers).toMatchObject([{ kind: "ok" }, { kind: "ok" }]);
    expect(api.arrived).toHaveLength(5);
  });

  it("rotated before the old token is refused are used within a minute and ten seconds", async () => {
    const accepted = { token: "first" };
    const { api, root, write } = await pod(accepted);
    const timing = fakeTiming();
    vi.useFakeTimers({ toFake: ["Date"] });
    afterTest(() => vi.useRealTimers());
    const connection = await connect({ inCluster: true, root }, { timing });
    afterTest(() => connection.close());
    await write("token", "second");
    vi.setSystemTime(Date.now() + 61_000);
    timing.pass(10_000);
    accepted.token = "second";
    expect(await connection.call(NODES)).toMatchObject({ kind: "ok" });
    expect(api.arrived.map(({ headers }) => headers.authorization)).toEqual(["Bearer second"]);
  });

  it("that stay refused cost one call each, and files are read again once a second at most", async () => {
    const { api, root, write } = await pod({ token: "another" });
    const timing = fakeTiming();
    const connection = await connect({ inCluster: true, root }, { timing });
    afterTest(() => connection.close());
    expect(await connection.call(NODES)).toMatchObject({ kind: "forbidden", status: 401 });
    await write("token", "another");
    expect(await connection.call(NODES)).toMatchObject({ kind: "forbidden", status: 401 });
    expect(api.arrived).toHaveLength(2);
    timing.pass(1_000);
    expect(await connection.call(NODES)).toMatchObject({ kind: "ok" });
    expect(api.arrived).toHaveLength(4);
  });

  it("survive that the token file is away for a moment", async () => {
    const { root } = await pod({ token: "first" });
    const timing = fakeTiming();
    const connection = await connect({ inCluster: true, root }, { timing });
    afterTest(() => connection.close());
    await rm(join(root, ACCOUNT, "ca.crt"));
    timing.pass(10_000);
    expect(await connection.call(NODES)).toMatchObject({ kind: "ok" });
  });

  it("are not had outside of one, and the error says so", async () => {
    vi.stubEnv("KUBERNETES_SERVICE_HOST", undefined);
    afterTest(() => vi.unstubAllEnvs());
    await expect(connect({ inCluster: true })).rejects.toThrow("Not in a cluster: KUBERNETES_SERVICE_HOST is not set");
  });
});

describe("credentials of a kubeconfig file", () => {
  it("may be a client certificate, and a new one in its file is used after ten seconds", async () => {
    const folder = await temporaryFolder();
    const present = async (name: string): Promise<void> => {
      const { certPem, keyPem } = await authority.issue({ name });
      await writeFile(join(folder, "tls.crt"), certPem);
      await writeFile(join(folder, "tls.key"), keyPem);
    };
    const tls = { cert: server.certPem, key: server.keyPem, ca: authority.caPem, requestCert: true };
    const names: string[] = [];
    const listener = https.createServer(tls);
    listener.on("secureConnection", (socket) => names.push(String(socket.getPeerCertificate().subject.CN)));
    const api = await fakeApi((_, answer) => reply(answer, 200, {}), listener);
    await present("binder-old");
    const user = { "client-certificate": join(folder, "tls.crt"), "client-key": join(folder, "tls.key") };
    const timing = fakeTiming();
    const connection = await connect({ kubeconfig: await kubeconfig(api.url, user) }, { timing });
    afterTest(() => connection.close());
    await connection.call(NODES);
    await connection.call(NODES);
    await present("binder-new");
    timing.pass(10_000);
    expect(await connection.call(NODES)).toMatchObject({ kind: "ok" });
    expect([...new Set(names)]).toEqual(["binder-old", "binder-new"]);
  });

  it("do not make up for a server certificate of an unknown authority", async () => {
    const api = await fakeApi(
      (_, answer) => reply(answer, 200, {}),
      https.createServer({
        cert: server.certPem,
        key: server.keyPem,
      }),
    );
    const path = await kubeconfig(api.url);
    await writeFile(path, (await readFile(path, "utf8")).replace('"insecure-skip-tls-verify":true', '"x":1'));
    const connection = await connect({ kubeconfig: path });
    afterTest(() => connection.close());
    const answer = await connection.call(NODES);
    expect(answer).toMatchObject({ kind: "unknown", cause: "reset" });
    expect(answer).toHaveProperty("message", expect.stringContaining("UNABLE_TO_VERIFY_LEAF_SIGNATURE"));
  });

  it("never show up in the message of a failure, even when a proxy repeats them", async () => {
    const api = await fakeApi((arrived, answer) => {
      answer.writeHead(Number(arrived.query.get("status"))).end(`bad header ${arrived.headers.authorization}`);
    });
    const connection = await connectTo(api);
    for (const status of [400, 401, 403, 500, 302]) {
      const answer = await connection.call({ ...NODES, query: { status } });
      expect(answer).toHaveProperty("message", expect.stringContaining("bad header Bearer [credential]"));
      expect(JSON.stringify(answer)).not.toContain("the-secret-token");
    }
  });

  it("that cannot be read are named without quoting the file", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "broken");
    await writeFile(path, "users:\n- token: the-secret-token\n  bad: [the-secret-token\n");
    const problem = await connect({ kubeconfig: path }).catch(String);
    expect(problem).toContain(`The kubeconfig ${path} cannot be read: line `);
    expect(problem).not.toContain("the-secret-token");
    await expect(connect({ kubeconfig: join(folder, "missing") })).rejects.toThrow(
      "cannot be read: there is no such file",
    );
    await expect(connect({ kubeconfig: await kubeconfig("nowhere at all") })).rejects.toThrow("is no URL");
  });

  it("of a context that the file lacks are refused with the contexts it has", async () => {
    const path = await kubeconfig("http://127.0.0.1:1");
    await expect(connect({ kubeconfig: path, context: "there" })).rejects.toThrow(
      `The kubeconfig ${path} has no usable context "there": choose one of here`,
    );
  });

  it("of a plugin that fails are refused without its output", async () => {
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "/bin/sh",
      args: ["-c", "echo the-secret-token >&2; exit 1"],
    };
    const problem = await connect({ kubeconfig: await kubeconfig("http://127.0.0.1:1", { exec }) }).catch(String);
    expect(problem).toContain("the credential plugin failed");
    expect(problem).not.toContain("the-secret-token");
  });
});
