import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildFailure, build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dryRun } from "../contract/wrangler.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const work = await mkdtemp(join(tmpdir(), "berth-bundle-"));
afterAll(() => rm(work, { recursive: true }));

/** Imports of Node's own modules, with and without their scheme, however they are written. */
function nodeImports(code: string): string[] {
  const specifiers = /\b(?:from|import|require)\s*\(?\s*["'`]([^"'`]+)["'`]/g;
  return [...code.matchAll(specifiers)]
    .map(([, specifier = ""]) => specifier)
    .filter((specifier) => specifier.startsWith("node:") || builtinModules.includes(specifier));
}

/** Code that makes code out of text. */
function evaluations(code: string): string[] {
  return [...code.matchAll(/.{0,40}(?:\beval\b|\bFunction\b|\.constructor\s*\(|\bimport\s*\().{0,40}/g)].map(
    ([found]) => found,
  );
}

describe("the Worker as it is deployed", () => {
  const folder = join(work, "deployed");
  let code = "";
  beforeAll(async () => {
    const { code: exit, output } = await dryRun(folder, ["--metafile", join(folder, "inputs.json")]);
    if (exit !== 0) throw new Error(`the Worker was not built:\n${output}`);
    code = await readFile(join(folder, "workers.js"), "utf8");
  }, 120_000);

  it("is one module of less than 200 KiB, and one of WebAssembly that Cloudflare compiles before it runs", async () => {
    const modules = (await readdir(folder)).filter((file) => /\.(m?js|wasm|bin)$/.test(file));
    expect(modules.sort()).toEqual([expect.stringMatching(/^[0-9a-f]+-skim\.wasm$/), "workers.js"]);
    expect(Buffer.byteLength(code)).toBeLessThan(200 * 1024);
  });

  it("imports nothing of Node", () => {
    expect(nodeImports(code)).toEqual([]);
    expect(nodeImports('import*as a from"node:fs";const b=require("path");await import("node:tls")')).toHaveLength(3);
  });

  it("makes no code out of text, which Workers forbid", () => {
    expect(evaluations(code)).toEqual([]);
    const samples = ['eval("1")', "let e=Function;new e('')", 'x.constructor("1")', "await import(name)"];
    for (const sample of samples) expect(evaluations(sample), sample).toHaveLength(1);
  });

  it("is made of this project, hono and zod, and of nothing else", async () => {
    const { inputs } = JSON.parse(await readFile(join(folder, "inputs.json"), "utf8"));
    const packages = Object.keys(inputs).flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
    expect([...new Set(packages)].sort()).toEqual(["hono", "zod"]);
  });
});

describe("the function", () => {
  const bundle = (contents: string) =>
    build({
      stdin: { contents, resolveDir: root, loader: "ts" },
      bundle: true,
      write: false,
      platform: "neutral",
      mainFields: ["module", "main"],
      format: "esm",
      logLevel: "silent",
      metafile: true,
    });

  it("bundles for a platform that has nothing but the web's own interfaces", async () => {
    const { outputFiles, metafile } = await bundle('export * from "./src/extender/function.ts"');
    expect(nodeImports(outputFiles[0]?.text ?? "import 'node:fs'")).toEqual([]);
    const external = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
    expect(external).toEqual([]);
  });

  it("would not bundle with an import of Node's, which shows that the test above can fail", async () => {
    const failure: BuildFailure = await bundle('import "./src/extender/function.ts"; import "node:fs"').catch((e) => e);
    expect(failure.errors.map(({ text }) => text)).toEqual([expect.stringContaining('"node:fs"')]);
  });
});

const FAULTY_POLICY = `apiVersion: berth.dev/v1alpha1
kind: PolicyConfiguration
profiles:
  - name: default
    plugins:
      - name: NodeLable
      - name: NodeLabel
        weight: 0
        args:
          forbids: {}
  - name: default
    plugins: []
callers:
  - name: cluster-a
    credentials:
      - bearer: 7
    profiles: [defualt]
`;

const FAULTY_FACTS = `{
  "apiVersion": "berth.dev/v1alpha1",
  "kind": "FleetFacts",
  "prices": [
    { "match": {}, "perHour": "0.23" }
  ],
  "price": []
}
`;

describe("a deploy with faults in its policy", () => {
  /** A copy of what a deploy reads, with other policy files. */
  async function copyWith(policy: string, facts: string): Promise<string> {
    const copy = await mkdtemp(join(work, "copy-"));
    for (const file of ["src", "package.json", "wrangler.toml"]) {
      await cp(join(root, file), join(copy, file), { recursive: true });
    }
    await symlink(join(root, "node_modules"), join(copy, "node_modules"));
    await writeFile(join(copy, "berth.yaml"), policy);
    await writeFile(join(copy, "facts.json"), facts);
    return copy;
  }

  it("stops before anything is built and tells every fault of both files with its line", async () => {
    const copy = await copyWith(FAULTY_POLICY, FAULTY_FACTS);
    const { code, output } = await dryRun(join(copy, "out"), [], copy);
    expect(code).not.toBe(0);
    for (const place of [
      /berth\.yaml:6:\d+ profiles\[0\]\.plugins\[0\]\.name: /,
      /berth\.yaml:8:\d+ profiles\[0\]\.plugins\[1\]\.weight: /,
      /berth\.yaml:10:\d+ profiles\[0\]\.plugins\[1\]\.args\.forbids: /,
      /berth\.yaml:11:\d+ profiles\[1\]\.name: is the name of an earlier profile/,
      /berth\.yaml:16:\d+ callers\[0\]\.credentials\[0\]/,
      /berth\.yaml:17:\d+ callers\[0\]\.profiles\[0\]: is not a profile of this file/,
      /facts\.json:5:\d+ prices\[0\]\.perHour: /,
      /facts\.json:7:\d+ price: /,
    ]) {
      expect(output).toMatch(place);
    }
    expect(existsSync(join(copy, "out"))).toBe(false);
    expect(existsSync(join(copy, "dist"))).toBe(false);
  }, 120_000);

  it("stops at YAML that cannot be read, with its line", async () => {
    const copy = await copyWith("apiVersion: berth.dev/v1alpha1\nprofiles: [\n", "{}");
    const { code, output } = await dryRun(join(copy, "out"), [], copy);
    expect(code).not.toBe(0);
    expect(output).toMatch(/berth\.yaml:[23]:\d+/);
    expect(existsSync(join(copy, "out"))).toBe(false);
  }, 120_000);

  it("goes through without them, which shows that the copy is not what stops it", async () => {
    const files = ["berth.yaml", "facts.json"].map((file) => readFile(join(root, file), "utf8"));
    const [policy = "", facts = ""] = await Promise.all(files);
    const copy = await copyWith(policy, facts);
    const { code, output } = await dryRun(join(copy, "out"), [], copy);
    expect(output).toContain("--dry-run: exiting now");
    expect(code).toBe(0);
    expect(existsSync(join(copy, "out", "workers.js"))).toBe(true);
  }, 120_000);
});
