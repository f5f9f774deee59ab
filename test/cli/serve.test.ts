import { mkdir, readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority, issueServer } from "../../src/cli/certificates.ts";
import { eventually } from "../controlplane/eventually.ts";
import { type RunningProcess, startProcess } from "../controlplane/process.ts";
import { berth, copyProject, type Project } from "./project.ts";

const SECRET = "a-secret-from-a-mounted-file";

let project: Project;
let ca: string;
let tls: { BERTH_TLS_CERT: string; BERTH_TLS_KEY: string };
beforeAll(async () => {
  project = await copyProject();
  const authority = await createAuthority({ name: "test authority", days: 1 });
  const server = await issueServer(authority, { names: ["127.0.0.1"], days: 1 });
  ca = authority.certificate;
  const secrets = join(project.folder, "secrets");
  await mkdir(secrets);
  tls = { BERTH_TLS_CERT: join(secrets, "tls.crt"), BERTH_TLS_KEY: join(secrets, "tls.key") };
  await writeFile(tls.BERTH_TLS_CERT, server.certificate);
  await writeFile(tls.BERTH_TLS_KEY, server.key);
  await writeFile(join(secrets, "token"), `${SECRET}\n`);
});
afterAll(() => project.remove());

function start(name: string, env: Readonly<Record<string, string>>): RunningProcess {
  const { folder } = project;
  const args = ["src/cli/berth.js", "serve"];
  const all = { BERTH_LISTEN: "127.0.0.1:0", ...tls, ...env };
  return startProcess({ name, command: process.execPath, args, folder, cwd: folder, env: all });
}

/** The log lines of a session, once there is one with a message. */
async function logged(session: RunningProcess, message: string) {
  return eventually(`a log line "${message}"`, (saw) => {
    saw(session.logs());
    const lines = session.logs().trimEnd().split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line)).find((line) => line.message === message);
  });
}

async function post(url: string, body: Buffer) {
  const headers = { "Content-Type": "application/json" };
  const asked = request(url, { method: "POST", ca, headers, agent: false });
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; answer: unknown }>();
  asked.on("error", reject);
  asked.on("response", (response) => {
    json(response).then((answer) => resolve({ status: response.statusCode ?? 0, answer }), reject);
  });
  asked.end(body);
  return promise;
}

describe("npm run serve", () => {
  it("serves over verified HTTPS to a caller whose secret stands in a file, until SIGTERM", async () => {
    const session = start("serve", { CLUSTER_A_PATH_FILE: join(project.folder, "secrets/token") });
    const { url } = await logged(session, "serving");
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const body = await readFile(join(project.folder, "src/cli/sample-request.json"));
    const { status, answer } = await post(`${url}/${SECRET}/default/prioritize`, body);
    expect(status).toBe(200);
    expect(answer).toContainEqual({ Host: "ip-10-44-0-2.eu-central-1.compute.internal", Score: 10 });
    expect((await post(`${url}/default/prioritize`, body)).status).toBe(401);
    expect(await logged(session, "decision")).toMatchObject({ caller: "cluster-a", verb: "prioritize" });
    process.kill(session.pid, "SIGTERM");
    expect(await session.exited).toEqual({ code: 0, signal: null });
    expect(await logged(session, "stopping")).toMatchObject({ signal: "SIGTERM" });
    expect(session.logs()).not.toContain(SECRET);
  });

  it.each([
    ["a setting", { BERTH_LISTEN: "8443" }, 'BERTH_LISTEN must be host:port, such as 0.0.0.0:8443, not "8443"\n'],
    [
      "several settings",
      { BERTH_OPEN: "yes", BERTH_TLS_CERT: "tls.crt" },
      'BERTH_TLS_CERT and BERTH_TLS_KEY go together: set both\nBERTH_OPEN must be "loopback" or not set, not "yes"\n',
    ],
    ["a missing policy", { BERTH_CONFIG: "nowhere.yaml" }, "nowhere.yaml: there is no such file\n"],
    [
      "a missing secret file",
      { CLUSTER_A_PATH_FILE: "nowhere" },
      "CLUSTER_A_PATH_FILE names nowhere, which cannot be read: there is no such file\n",
    ],
    [
      "a missing certificate",
      { BERTH_TLS_CERT: "nowhere.crt", BERTH_TLS_KEY: "nowhere.key" },
      "the server's certificate cannot be read from nowhere.crt: there is no such file\n",
    ],
    [
      "plain HTTP where others could listen in",
      { BERTH_LISTEN: "0.0.0.0:0" },
      "plain HTTP on 0.0.0.0 would send pods and credentials readable over the network: " +
        "give a certificate and its key, or listen on 127.0.0.1\n",
    ],
  ])("ends with one message for %s", async (_, env, message) => {
    const { code, stderr } = await berth(project, ["serve"], { BERTH_LISTEN: "127.0.0.1:0", ...env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: message });
  });

  it("ends with one message for a taken port", async () => {
    const session = start("first", {});
    const { url } = await logged(session, "serving");
    const { host, port } = new URL(url);
    const { code, stderr } = await berth(project, ["serve"], { ...tls, BERTH_LISTEN: host });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `port ${port} of 127.0.0.1 is taken: stop the program that listens there or choose another port\n`,
    });
    await session.stop();
  });
});
