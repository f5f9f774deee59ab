import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { registry } from "../../src/policy/registry.ts";
import { RELEASE } from "../../src/protocol/release.ts";
import { cycles, ROOMS, violations } from "./rooms.ts";
import { isTest, readSources, roomOf, type Source, sourceOf } from "./sources.ts";

const everything = readSources();
const sources = everything.filter((source) => !isTest(source));
const paths = (found: readonly Source[]) => found.map(({ path }) => path);

describe("a file of the project", () => {
  it("lies in a room that the table knows", () => {
    expect(sources.length).toBeGreaterThan(30);
    expect(paths(sources.filter(({ path }) => !Object.hasOwn(ROOMS, roomOf(path))))).toEqual([]);
  });

  it("imports only what its room may", () => {
    expect(violations(sources)).toEqual([]);
  });

  it("imports files that exist, and no test", () => {
    const known = new Map(everything.map((source) => [source.path, source]));
    const odd = sources.flatMap(({ path, imports }) =>
      imports.flatMap((each) => {
        if (!("file" in each) || /\.(json|wasm)$/.test(each.file)) return [];
        const target = known.get(each.file);
        return target && !isTest(target) ? [] : [`${path} imports ${each.file}`];
      }),
    );
    expect(odd).toEqual([]);
  });

  it("is on no ring of imports", () => {
    expect(cycles(everything)).toEqual([]);
  });

  it("has at most 200 lines, a test at most 250", () => {
    const long = everything.filter((source) => source.lines > (isTest(source) ? 250 : 200));
    expect(long.map(({ path, lines }) => `${path}: ${lines} lines`)).toEqual([]);
  });

  it("reads and writes nothing where an operator's configuration is only thought about", () => {
    const pure = sources.filter(({ path }) => /^cli\/(kube-scheduler|check|config)\//.test(path));
    expect(pure.length).toBeGreaterThan(20);
    const touching = pure.filter(({ code }) =>
      /from "node:(fs|child_process|process|http|https|net\/)|\bprocess\.(env|std|exit)/.test(code),
    );
    expect(paths(touching)).toEqual([]);
  });

  it("has something of its own: none only hands on what others export", () => {
    const barrels = sources.filter(isBarrel);
    expect(paths(barrels)).toEqual([]);
  });

  it("has no default export, but for the Worker's entry, where the runtime demands it", () => {
    const defaults = sources.filter(({ code }) => /^export default\b|\bas default\b/m.test(code));
    expect(paths(defaults)).toEqual(["adapters/workers.ts"]);
  });

  it("reads the environment only where a program begins", () => {
    const readers = sources.filter(({ code }) => /\bprocess\.env\b|\bprocess\[/.test(code));
    const allowed = /^(cli\/|(adapters|binder|scheduler)\/[-\w]*settings\.ts$|cluster\/kubeconfig\.ts$)/;
    expect(paths(readers.filter(({ path }) => !allowed.test(path)))).toEqual([]);
  });
});

describe("the release", () => {
  it("is the same in the code and in package.json", () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(RELEASE).toBe(version);
  });
});

describe("a plugin", () => {
  const plugins = sources.filter(({ path }) => path.startsWith("policy/plugins/"));
  const table = sources.find(({ path }) => path === "policy/registry.ts");

  it.each(paths(plugins))("has a test beside it and one line in the registry: %s", (path) => {
    expect(existsSync(new URL(`../../src/${path.replace(/\.ts$/, ".test.ts")}`, import.meta.url))).toBe(true);
    expect(table?.imports.filter((each) => "file" in each && each.file === path)).toHaveLength(1);
  });

  it("is in the registry once, under a name of its own", () => {
    expect(registry).toHaveLength(plugins.length);
    expect(new Set(registry.map(({ name }) => name)).size).toBe(plugins.length);
  });
});

describe("these tests themselves", () => {
  const file = (path: string, ...specifiers: string[]) =>
    sourceOf(path, specifiers.map((specifier) => `import { x } from "${specifier}";`).join("\n"));

  it("find an import against the direction", () => {
    const wrong = [
      file("protocol/a.ts", "../policy/b.ts"),
      file("policy/b.ts", "../extender/c.ts", "node:fs", "hono"),
      file("policy/c.ts", "yaml"),
      file("extender/c.ts", "../adapters/d.ts"),
      file("placement/e.ts", "../cluster/f.ts", "@kubernetes/client-node"),
      file("binder/g.ts", "../adapters/node.ts"),
      file("somewhere/h.ts", "../protocol/a.ts"),
    ];
    expect(violations(wrong)).toHaveLength(10);
    expect(violations([file("binder/g.ts", "../adapters/listener.ts", "../protocol/a.ts", "../cluster/f.ts")])).toEqual(
      [],
    );
    expect(violations([file("policy/source.ts", "yaml", "zod"), file("extender/c.ts", "hono/body-limit")])).toEqual([]);
  });

  it("see imports however they are written", () => {
    const text = `import "./a.ts";
import type {
  One,
  Two,
} from "./b.ts";
export { three } from "../c/c.ts";
// import "./no.ts";
const d = await import("./d.ts");`;
    expect(sourceOf("x/y.ts", text).imports).toEqual(
      ["x/a.ts", "x/b.ts", "c/c.ts", "x/d.ts"].map((each) => ({ file: each })),
    );
  });

  it("find a ring of imports", () => {
    const ring = [file("policy/a.ts", "./b.ts"), file("policy/b.ts", "./c.ts"), file("policy/c.ts", "./b.ts")];
    expect(cycles(ring)).toEqual(["policy/b.ts → policy/c.ts → policy/b.ts"]);
  });

  it("find a file that has nothing of its own", () => {
    expect(isBarrel(sourceOf("a.ts", 'export * from "./b.ts";\nexport type { C } from "./c.ts";'))).toBe(true);
    expect(isBarrel(sourceOf("a.ts", 'export const RELEASE = "1.0.0";'))).toBe(false);
    expect(isBarrel(sourceOf("a.ts", 'export { b } from "./b.ts";\nexport const c = 1;'))).toBe(false);
  });
});

/** True for a file that is nothing but exports of other files. */
function isBarrel({ code }: Source): boolean {
  const own = code.replace(/^\s*(?:import|export)\b[^;"'`]*\bfrom\s*["'][^"']+["'];?/gm, "").trim();
  return own === "" && /^export\b/m.test(code);
}
