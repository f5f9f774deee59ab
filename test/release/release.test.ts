import { exec, execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { freePort } from "../controlplane/ports.ts";
import { startProcess, waitUntilUp } from "../controlplane/process.ts";
import { buildRelease } from "./build.ts";
import { listOf, readContainerfile } from "./containerfile.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { version, scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-release-"));
  await buildRelease(join(folder, "release"));
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

/** Runs the bundle far from any package. */
async function berth(...args: string[]) {
  const command = [join(folder, "release/berth.mjs"), ...args];
  return promisify(execFile)(process.execPath, command, { cwd: folder }).then(
    (output) => ({ code: 0, ...output }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

describe("the release bundle", () => {
  it("runs without npm and without packages", async () => {
    expect((await berth("--version")).stdout.trim()).toBe(version);
    const { stdout } = await berth("--help");
    for (const command of ["serve", "binder", "certs", "doctor", "explain"]) expect(stdout).toContain(`  ${command} `);
  });

  it("has what its commands read: the policy, the recorded request, the manifests", async () => {
    const file = (name: string) => join(folder, "release", name);
    const policy = ["--config", file("berth.yaml"), "--facts", file("facts.json")];
    expect((await berth("policy", "check", ...policy)).stdout).toMatch(/^default@/);
    const explained = await berth("explain", "--file", file("sample-request.json"), ...policy);
    expect(explained.stdout).toContain("3 of 4 nodes kept");
    expect(await readFile(file("infra/binder/rbac.yaml"), "utf8")).toContain("berth-binder");
  });

  it("carries the licence of every package that is in it", async () => {
    const licences = await readFile(join(folder, "release/LICENSES.txt"), "utf8");
    const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    for (const name of ["hono", "undici", "@kubernetes/client-node"]) {
      expect(licences).toContain(`${name} ${dependencies[name]} (`);
    }
  });

  it("makes certificates that it can serve with", async () => {
    expect(await berth("certs", "--folder", join(folder, "certs"))).toMatchObject({ code: 0 });
    const port = await freePort();
    const running = startProcess({
      name: "serve",
      folder,
      command: process.execPath,
      args: [join(folder, "release/berth.mjs"), "serve"],
      cwd: join(folder, "release"),
      env: { BERTH_LISTEN: `127.0.0.1:${port}`, BERTH_OPEN: "loopback" },
    });
    await waitUntilUp(running, async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
    expect((await fetch(`http://127.0.0.1:${port}/default`)).status).toBe(200);
    await running.stop();
    expect(running.exit()?.code).toBe(0);
  });

  it("says what is missing where the binder has no cluster", async () => {
    const { code, stderr } = await berth("binder");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Not in a cluster: KUBERNETES_SERVICE_HOST is not set\. .*\n$/);
  });

  it("says that berth dev needs a checkout", async () => {
    const policy = ["berth.yaml", "facts.json"].map((name) => cp(join(root, name), join(folder, name)));
    await Promise.all(policy);
    const { code, stderr } = await berth("dev", "--once", "--port", "0");
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^berth dev needs a checkout/);
  });
});

// No container engine here: the steps are run in a folder, and the images they start from are not.
describe("the Containerfile, by its steps in a temporary folder", async () => {
  const [build, image] = readContainerfile(await readFile(join(root, "Containerfile"), "utf8"));
  if (!build || !image) throw new Error("the Containerfile has two stages");

  it("installs from the lock file, then builds what the second stage takes over, and that runs", async () => {
    const runs = build.instructions.filter(({ name }) => name === "RUN").map(({ text }) => text);
    expect(runs).toEqual(["npm ci --no-audit --no-fund", "npm run release"]);
    const source = join(folder, "src");
    for (const path of ["src", "test/release", "infra", "package.json", "berth.yaml", "facts.json", "LICENSE"]) {
      await cp(join(root, path), join(source, path), { recursive: true });
    }
    await symlink(join(root, "node_modules"), join(source, "node_modules"));
    await promisify(exec)(runs.at(-1) ?? "", { cwd: source });
    const [, from = "", to = ""] = /^--from=build \/src\/(\S+) (\S+)$/.exec(copyOf(image)) ?? [];
    const [node = "", program = "", ...rest] = listOf(image, "ENTRYPOINT");
    expect([node, rest]).toEqual(["/nodejs/bin/node", []]);
    const started = program.replace(`${to}/`, `${join(source, from)}/`);
    const { stdout } = await promisify(execFile)(process.execPath, [started, ...listOf(image, "CMD")]);
    expect(stdout).toContain("Usage: berth");
  }, 120_000);

  it("ends in an image without a shell, by a numbered user that the manifests name too", async () => {
    expect(image.from).toMatch(/^gcr\.io\/distroless\/nodejs24-.*:nonroot$/);
    const user = image.instructions.find(({ name }) => name === "USER")?.text;
    expect(user).toBe("65532:65532");
    for (const file of ["binder/deployment.yaml", "function/deployment.yaml", "overlays/gpushare/daemonset.yaml"]) {
      const manifest = await readFile(join(root, "infra", file), "utf8");
      expect(manifest).toContain("runAsUser: 65532");
      expect(manifest).toContain(`image: berth:${version}`);
    }
  });

  it("starts in the function's manifest with what `npm run serve` gives to node", async () => {
    const manifests = parseAllDocuments(await readFile(join(root, "infra/function/deployment.yaml"), "utf8"));
    const deployment = manifests.find((each) => each.get("kind") === "Deployment")?.toJS();
    const [container] = deployment.spec.template.spec.containers;
    const [, ...words] = scripts.serve.split(" ");
    const [node = "", program = ""] = listOf(image, "ENTRYPOINT");
    const flags = words.filter((word: string) => word.startsWith("--"));
    expect(container.command).toEqual([node, ...flags, program]);
    expect(container.args).toEqual(words.slice(flags.length + 1));
    expect(container.env.map(({ name }: { name: string }) => name)).not.toContain("NODE_OPTIONS");
  });

  it("takes no packages, builds, keys and secrets of a checkout along", async () => {
    const ignored = (await readFile(join(root, ".containerignore"), "utf8")).split("\n");
    for (const path of ["node_modules", "dist", ".git", ".berth", ".dev.vars"]) expect(ignored).toContain(path);
  });
});

function copyOf({ instructions }: ReturnType<typeof readContainerfile>[number]): string {
  return instructions.find(({ name }) => name === "COPY")?.text ?? "";
}
