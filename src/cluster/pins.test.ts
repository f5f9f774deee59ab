import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, it } from "vitest";

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
}

const read = (path: string | URL): Manifest => JSON.parse(readFileSync(path, "utf8"));
const ours = read(new URL("../../package.json", import.meta.url));
const require = createRequire(import.meta.url);

it("client-node is pinned to the version whose behaviour is known, on a Node that it runs on (client-js #3020)", () => {
  expect(ours.dependencies["@kubernetes/client-node"]).toBe("2.0.1");
  expect(ours.engines.node).toBe(">=22.19");
});

it("client-node and we share one copy of undici, the one that is named here", () => {
  const entry = require.resolve("@kubernetes/client-node");
  const theirs = createRequire(entry).resolve("undici/package.json");
  expect(theirs).toBe(require.resolve("undici/package.json"));
  expect(read(theirs).version).toBe(ours.dependencies["undici"]);
});
