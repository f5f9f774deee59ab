import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { check } from "../../src/cli/check/check.ts";
import { PLATFORMS, WIRINGS } from "../../src/cli/config/options.ts";
import { berth, copyProject, type Project } from "./project.ts";

// Each command is a process of its own, which takes seconds while other tests keep the machine busy.
vi.setConfig({ testTimeout: 180_000 });

let project: Project;
beforeAll(async () => {
  project = await copyProject();
  await promisify(execFile)("cp", ["-r", join(import.meta.dirname, "../../infra"), project.folder]);
});
afterAll(() => project.remove());

const read = (path: string) => readFile(join(project.folder, path), "utf8");
const modeOf = async (path: string) => (await stat(join(project.folder, path))).mode & 0o777;

describe("berth init", () => {
  it.each(WIRINGS)(
    "writes a kit for %s whose policy and scheduler configuration have no fault, and three commands",
    async (wiring) => {
      const { code, stdout, stderr } = await berth(project, ["init", `kit-${wiring}`, "--yes", "--wiring", wiring]);
      expect(code, stderr).toBe(0);
      expect(stdout.split("\n").filter((line) => line.startsWith("  "))).toHaveLength(3);
      const files = ["--config", `kit-${wiring}/berth.yaml`, "--facts", `kit-${wiring}/facts.json`];
      expect(await berth(project, ["policy", "check", ...files])).toMatchObject({ code: 0 });
      const { findings } = check(await read(`kit-${wiring}/scheduler.yaml`), { minor: 37 });
      expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
      expect(await modeOf(`kit-${wiring}/certs/client.key`)).toBe(0o600);
      const made = await readdir(join(project.folder, `kit-${wiring}`));
      expect(
        made.filter((name) => !stderr.includes(name)),
        "what it made and did not tell",
      ).toEqual([]);
      expect(made).toContain("infra");
      expect(stdout).toMatch(/kubectl apply -k .*infra\/.*image berth:\d+\.\d+\.\d+/);
    },
  );

  it("overwrites nothing without being told, and keeps certificates even then", async () => {
    expect(await berth(project, ["init", "kept", "--yes"])).toMatchObject({ code: 0 });
    const before = [await read("kept/berth.yaml"), await read("kept/certs/ca.crt")];
    await project.edit("kept/berth.yaml", (text) => `# mine\n${text}`);
    const again = await berth(project, ["init", "kept", "--yes"]);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/^kept has berth\.yaml, facts\.json, .* already, and nothing was written/);
    expect(await read("kept/berth.yaml")).toContain("# mine");
    expect(await berth(project, ["init", "kept", "--yes", "--force"])).toMatchObject({ code: 0 });
    expect([await read("kept/berth.yaml"), await read("kept/certs/ca.crt")]).toEqual(before);
  });

  it("gives a function on Workers a secret that stands in files of mode 0600 alone, and settings that bundle its policy", async () => {
    const url = "https://berth.example.workers.dev";
    const options = ["--wiring", "prioritize-only", "--function", "workers", "--function-url", url];
    const { code, stdout, stderr } = await berth(project, ["init", "far", "--yes", ...options]);
    expect(code, stderr).toBe(0);
    const secret = (await read("far/secrets/function.env")).trim().split("=")[1] ?? "";
    expect(secret.length).toBeGreaterThanOrEqual(32);
    expect(await read("far/scheduler.yaml")).toContain(`urlPrefix: ${url}/${secret}/default`);
    expect([await modeOf("far/scheduler.yaml"), await modeOf("far/secrets/function.env")]).toEqual([0o600, 0o600]);
    expect(stdout + stderr + (await read("far/berth.yaml"))).not.toContain(secret);
    expect(existsSync(join(project.folder, "far/kustomization.yaml"))).toBe(false);
    expect(stdout + stderr).not.toContain("infra/");
    const wrangler = join(project.folder, "node_modules/wrangler/bin/wrangler.js");
    const args = [
      wrangler,
      "deploy",
      "--dry-run",
      "--outdir",
      join(project.folder, "bundle"),
      "--config",
      "far/wrangler.toml",
      "--env",
      "production",
    ];
    const env = { ...process.env, WRANGLER_SEND_METRICS: "false" };
    await promisify(execFile)(process.execPath, args, { cwd: project.folder, env });
    expect(await read("far/wrangler.toml")).toContain('required = ["THIS_CLUSTER"]');
    expect(JSON.parse(await read("far/policy.json"))).toMatchObject({
      configuration: { callers: [{ name: "this-cluster" }] },
    });
    expect(await read("bundle/workers.js")).toContain("this-cluster");
  });

  it("takes an address of the Service range for schedulers that cannot resolve names", async () => {
    const { code } = await berth(project, [
      "init",
      "fixed",
      "--yes",
      "--wiring",
      "relay",
      "--cluster-ip",
      "10.96.0.200",
    ]);
    expect(code).toBe(0);
    expect(await read("fixed/scheduler.yaml")).toMatch(
      /urlPrefix: https:\/\/10\.96\.0\.200\/default[\s\S]*serverName: berth-binder\.berth-system\.svc/,
    );
    expect(await read("fixed/kustomization.yaml")).toContain("clusterIP: 10.96.0.200");
  });

  it.each([
    [["--wiring", "relay", "--function", "workers"], /give --function-url/],
    [["--wiring", "binder-only", "--function", "cluster"], /leave out --function/],
    [["--wiring", "direct", "--function", "none"], /needs a function/],
    [["--wiring", "direct", "--platform", "eks"], /second-scheduler/],
    [["--cluster-ip", "berth.example.com"], /no IP address/],
    [["--function", "workers", "--function-url", "http://a.example.com"], /https:\/\/host/],
  ])("refuses %j in one sentence and writes nothing", async (args, message) => {
    const { code, stderr } = await berth(project, ["init", "refused", "--yes", ...args]);
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toMatch(message);
    expect(existsSync(join(project.folder, "refused"))).toBe(false);
  });
});

describe("berth config and berth check", () => {
  const target = ["--wiring", "prioritize-only", "--function-url", "https://berth.example.com"];

  it("write a file, refuse to replace it, and find nothing to warn of in it", async () => {
    const first = await berth(project, ["config", ...target, "--out", "made/scheduler.yaml"]);
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(first.stderr).toBe("start kube-scheduler with: --config=made/scheduler.yaml\n");
    expect(await berth(project, ["config", ...target, "--out", "made/scheduler.yaml"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is there already"),
    });
    expect(await berth(project, ["check", "made/scheduler.yaml"])).toMatchObject({ code: 0 });
  });

  it("tell by their exit code how bad it is, and by JSON everything else", async () => {
    const codes: [string, number][] = [
      ["unverified-tls", 3],
      ["two-binders", 2],
      ["filter-without-preempt", 2],
    ];
    for (const [name, code] of codes) {
      const file = join(import.meta.dirname, "configs", `${name}.yaml`);
      const { code: was, stdout } = await berth(project, ["check", file, "--output", "json"]);
      expect(was, name).toBe(code);
      const report = JSON.parse(stdout);
      expect(report).toMatchObject({ file, exitCode: code });
      expect(report.findings.map(({ rule }: { rule: string }) => rule)).toContain(name);
    }
    expect(await berth(project, ["check", "nowhere.yaml"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no such file"),
    });
  });

  it("read standard input, and nodes to compare resources with", async () => {
    await promisify(execFile)(
      "sh",
      [
        "-c",
        `node_modules/.bin/node src/cli/berth.js config --wiring direct --function-url https://a.example.com --managed-resource example.com/absent > in.yaml 2>/dev/null`,
      ],
      { cwd: project.folder },
    );
    await promisify(execFile)("sh", ["-c", `echo '{"items":[{"status":{"allocatable":{"cpu":"1"}}}]}' > nodes.json`], {
      cwd: project.folder,
    });
    const piped = promisify(execFile)(
      "sh",
      ["-c", "node_modules/.bin/node src/cli/berth.js check - --nodes nodes.json < in.yaml"],
      { cwd: project.folder },
    );
    const { code, stdout } = await piped.then(
      ({ stdout: text }) => ({ code: 0, stdout: text }),
      (error: { code: number; stdout: string }) => error,
    );
    expect(code).toBe(3);
    expect(stdout).toContain("no node advertises example.com/absent");
  });

  it("take a private key for no authority", async () => {
    await berth(project, ["init", "keys", "--yes"]);
    const { code, stderr } = await berth(project, ["config", ...target, "--ca-data", "keys/certs/ca.key"]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/holds no certificate/)]);
  });

  it("know a credential for every platform whose scheduler can be configured", () => {
    const without = Object.entries(PLATFORMS).filter(([, { kubeconfig }]) => kubeconfig === undefined);
    expect(without.map(([name]) => name)).toEqual(["deckhouse", "eks", "gke", "aks"]);
  });
});
