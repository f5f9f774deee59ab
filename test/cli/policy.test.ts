import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { berth, copyProject, type Finished, type Project } from "./project.ts";

let project: Project;
beforeAll(async () => {
  project = await copyProject();
});
afterAll(() => project.remove());

describe("berth policy", () => {
  it("checks the files and names the policies they give", async () => {
    const { code, stdout } = await berth(project, ["policy", "check"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^default@[0-9a-f]{12}\n$/);
  });

  it("compiles the files for the Worker", async () => {
    expect(await berth(project, ["policy", "compile", "--out", "out/policy.json"])).toMatchObject({ code: 0 });
    const compiled = JSON.parse(await readFile(join(project.folder, "out/policy.json"), "utf8"));
    expect(compiled).toMatchObject({ configuration: { profiles: [{ name: "default" }] }, facts: { currency: "USD" } });
  });

  it("refuses files with faults with every fault, and leaves what it compiled before", async () => {
    const before = await readFile(join(project.folder, "out/policy.json"), "utf8");
    const config = await project.edit("berth.yaml", (text) => text.replace("profiles: [default]", "profiles: [other]"));
    const facts = await project.edit("facts.json", (text) => text.replace("currency", "curency"));
    const faults = [
      `berth.yaml:${config}:16 callers[0].profiles[0]: is not a profile of this file`,
      expect.stringContaining(`facts.json:${facts}:3 curency: unknown key, did you mean currency?`),
      "",
    ];
    const check = await berth(project, ["policy", "check"]);
    expect(check.code).toBe(1);
    expect(check.stderr.split("\n")).toEqual(faults);
    const compile = await berth(project, ["policy", "compile", "--out", "out/policy.json"]);
    expect(compile.code).toBe(1);
    expect(compile.stderr.split("\n")).toEqual(["the policy has faults, nothing was built:", ...faults]);
    expect(await readFile(join(project.folder, "out/policy.json"), "utf8")).toBe(before);
  });
});

describe("berth.yaml and facts.json with every kind of fault", () => {
  const config = `apiVersion: berth.dev/v1alpha1
kind: PolicyConfiguration
profiles:
  - name: default
    plugins:
      - name: NodeCots
      - name: NodeCost
        weight: 0
        args: { unpriced: never, currency: EUR }
  - name: default
    plugins: []
  - name: Healthz
    plugins: none
callers:
  - name: cluster-a
    credentials: [{ password: CLUSTER_A }]
    profiles: [default, batch]
`;
  const facts = `{
  "apiVersion": "berth.dev/v1alpha1",
  "kind": "FleetFacts",
  "prices": [{ "match": {}, "perHour": "0.2" }],
  "zones": { "eu-central-1a": { "closed": "no" } }
}
`;

  it("are reported all at once, each with file, line, column and path", async () => {
    await writeFile(join(project.folder, "all.yaml"), config);
    await writeFile(join(project.folder, "all.json"), facts);
    const { code, stderr } = await berth(project, ["policy", "check", "--config", "all.yaml", "--facts", "all.json"]);
    expect(code).toBe(1);
    const places = stderr
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/: .*/, ""));
    expect(places).toEqual([
      "all.yaml:6:15 profiles[0].plugins[0].name",
      "all.yaml:8:17 profiles[0].plugins[1].weight",
      "all.yaml:9:27 profiles[0].plugins[1].args.unpriced",
      "all.yaml:9:34 profiles[0].plugins[1].args.currency",
      "all.yaml:10:11 profiles[1].name",
      "all.yaml:12:11 profiles[2].name",
      "all.yaml:13:14 profiles[2].plugins",
      "all.yaml:16:19 callers[0].credentials[0]",
      "all.yaml:17:25 callers[0].profiles[1]",
      "all.json:4:40 prices[0].perHour",
      "all.json:5:43 zones.eu-central-1a.closed",
    ]);
  });

  it("are reported where the text is no YAML at all", async () => {
    await writeFile(join(project.folder, "bad.yaml"), "profiles:\n  - name: [default\n");
    const { code, stderr } = await berth(project, ["policy", "check", "--config", "bad.yaml"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^bad\.yaml:\d+:\d+ is not valid YAML: /);
  });
});

describe("wrangler deploy --dry-run", () => {
  const deploy = async ({ folder }: Project): Promise<Finished> => {
    const wrangler = join(folder, "node_modules/wrangler/bin/wrangler.js");
    const env = { ...process.env, WRANGLER_SEND_METRICS: "false" };
    return promisify(execFile)(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", "bundle"], {
      cwd: folder,
      env,
    }).then(
      (output) => ({ code: 0, ...output }),
      (error: Finished) => error,
    );
  };

  it("fails with the faults before anything is bundled, and bundles once they are gone", async () => {
    const checkout = await copyProject();
    await checkout.edit("berth.yaml", (text) => text.replace("name: NodeCost", "name: NodeCots"));
    const refused = await deploy(checkout);
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toContain("profiles[0].plugins[1].name: ");
    expect(existsSync(join(checkout.folder, "bundle"))).toBe(false);
    await checkout.edit("berth.yaml", (text) => text.replace("name: NodeCots", "name: NodeCost"));
    const shipped = await deploy(checkout);
    expect(shipped.code, shipped.stderr).toBe(0);
    expect(existsSync(join(checkout.folder, "bundle/workers.js"))).toBe(true);
    await checkout.remove();
  }, 120_000);
});
