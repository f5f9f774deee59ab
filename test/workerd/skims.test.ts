import { expect, test } from "vitest";
import { workerSkims } from "../../src/adapters/worker-skims.ts";
import { pathTree } from "../../src/protocol/paths.ts";
import { argsInPieces } from "../../src/protocol/read-args.ts";

test("A Worker has WebAssembly to read nodes with, for many requests at once", () => {
  const taken = Array.from({ length: 20 }, () => workerSkims.take(256 * 1024));
  expect(new Set(taken).size).toBe(20);
  for (const skim of taken) expect(skim).toBeDefined();
});

test("A node reads with it as it does without", () => {
  const node = (name: string) => `{"status":{"images":[{"names":["\\"]}"]}]},"metadata":{"name":"${name}"}}`;
  const body = new TextEncoder().encode(`{"Pod":{},"Nodes":{"items":[${node("a")},${node("b")}]}}`);
  const read = [workerSkims, undefined].map((skims) => {
    const reading = argsInPieces({ wanted: pathTree([]), retain: () => () => true, skims });
    reading.push(body);
    return reading.end();
  });
  expect(read[0]).toEqual(read[1]);
  expect(read[0]?.nodes.map(({ name }) => name)).toEqual(["a", "b"]);
});
