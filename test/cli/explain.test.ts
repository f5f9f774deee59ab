import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Listener } from "../../src/adapters/listener.ts";
import { serveOnNode } from "../../src/adapters/node.ts";
import { makeCertificates } from "../../src/cli/certs/folder.ts";
import type { Explanation } from "../../src/cli/explain/explanation.ts";
import { berth } from "./project.ts";

const root = join(import.meta.dirname, "..", "..");
const project = { folder: root } as Parameters<typeof berth>[0];
const REQUEST = join(root, "src/cli/sample-request.json");
const SECRET = "a-path-secret-of-this-test-4711";

let folder: string;
let running: Listener;
let ca: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-explain-"));
  const { files } = await makeCertificates(join(folder, "certs"), { names: ["127.0.0.1"] });
  ca = files.authority.certificate;
  const policy = await readFile(join(root, "berth.yaml"), "utf8");
  const caller = "{ name: here, credentials: [{ path: HERE_PATH }], profiles: [default] }";
  await writeFile(join(folder, "berth.yaml"), `${policy.replace(/^callers:[\s\S]*/m, "")}\ncallers: [${caller}]\n`);
  running = await serveOnNode(
    {
      configFile: join(folder, "berth.yaml"),
      factsFile: join(root, "facts.json"),
      host: "127.0.0.1",
      port: 0,
      tls: { certFile: files.server.certificate, keyFile: files.server.key },
      openOnLoopback: false,
      bodyLimit: 2 ** 25,
      secret: () => SECRET,
    },
    () => undefined,
  );
});
afterAll(async () => {
  await running?.stop();
  await rm(folder, { recursive: true });
});

async function explain(...args: string[]): Promise<Explanation> {
  const { code, stdout, stderr } = await berth(project, ["explain", "--output", "json", ...args]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

describe("berth explain --file", () => {
  it("shows a table without colours where it is no terminal", async () => {
    const { code, stdout } = await berth(project, ["explain", "--file", REQUEST]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^pod default\/checkout-api by default@[0-9a-f]+, from .*\n3 of 4 nodes kept$/m);
    expect(stdout).toMatch(/ kept .* best /);
    expect(stdout).toMatch(/ refused .* NodeLabel: node\(s\) didn't have a label/);
    expect(stdout).not.toContain("\x1b");
  });

  it("says the same by the files here and by a function, which gets facts only", async () => {
    const here = await explain("--file", REQUEST);
    const there = await explain("--file", REQUEST, "--url", `${running.url}/${SECRET}/default`, "--ca", ca);
    expect(there.nodes).toEqual(here.nodes);
    expect(here.nodes).toHaveLength(4);
  });

  it("keeps to one node, with all its facts, when it is asked to", async () => {
    const [first] = (await explain("--file", REQUEST)).nodes;
    const { stdout } = await berth(project, ["explain", "--file", REQUEST, "--node", first?.node ?? ""]);
    expect(stdout).toMatch(/NodeCost ×3: raw .*, scaled 100, adds 75 to the mean$/m);
    expect(stdout).toContain('topology.kubernetes.io/zone="eu-central-1');
  });

  it.each([
    [["--file", "/nowhere.json"], "/nowhere.json cannot be read: there is no such file"],
    [["--file", join(root, "berth.yaml")], "is no JSON object"],
    [["--file", REQUEST, "--profile", "nobody"], "has no profile nobody; it has default"],
    [["--file", REQUEST, "--node", "nobody"], "there is no node nobody"],
    [["--file", REQUEST, "--url", "https://127.0.0.1:9/default"], "the function does not answer (ECONNREFUSED)"],
    [["pod", "a/b", "--kubeconfig", "/nowhere"], "The kubeconfig /nowhere cannot be read"],
    [[], "Usage: berth explain"],
  ])("says what is wrong with %j", async (args, message) => {
    const { code, stderr } = await berth(project, ["explain", ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  it("names the setting when a request has node names only", async () => {
    const names = join(folder, "names.json");
    await writeFile(names, JSON.stringify({ Pod: { metadata: { name: "p" } }, Nodes: null, NodeNames: ["a"] }));
    const { stderr } = await berth(project, ["explain", "--file", names]);
    expect(stderr).toContain("nodeCacheCapable: false");
  });
});
