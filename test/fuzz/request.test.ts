import fc from "fast-check";
import { expect, test } from "vitest";
import { pathTree } from "../../src/protocol/paths.ts";
import { argsInPieces } from "../../src/protocol/read-args.ts";
import { arriving, checkRequest } from "./request.ts";

test("A request reads alike whole, in pieces cut anywhere, and with JSON.parse, and is refused in the same words", () => {
  const seen = { nodes: 0, names: 0, refused: 0 };
  fc.assert(
    fc.property(arriving, (request) => {
      seen[checkRequest(request)]++;
    }),
    { numRuns: 3000 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(150);
}, 120_000);

const encoder = new TextEncoder();

test("Every place where a request can be cut in two gives the same nodes", () => {
  const text =
    '\ufeff { "Other" : [1.5e3, "\\"]}"], "pod" :{"metadata":{"name":"p"}} ,"NODES":{"metadata":{},"items" :[ ' +
    '{"metadata":{"name":"\\u0061","labels":{"z\\u006fne":"é😀\\ud83d\\ude00","more":"\\\\"}}} , ' +
    '{"metadata":{"labels":{"zone":"2"},"name":"b"},"status":{"n":-1}}\n]} ,"nodeNames":null } \n';
  const body = encoder.encode(text);
  for (let cut = 0; cut <= body.length; cut++) {
    for (const length of [0, 20, body.length]) {
      const reading = argsInPieces({ wanted: pathTree(["metadata.labels[zone]"]), length, retain: () => () => true });
      reading.push(body.slice(0, cut));
      reading.push(body.slice(cut));
      const { pod, nodes, form } = reading.end();
      expect({ pod, form }).toEqual({ pod: { metadata: { name: "p" } }, form: "nodes" });
      expect(nodes.map(({ object }) => object)).toEqual([
        { metadata: { name: "a", labels: { zone: "é😀😀" } } },
        { metadata: { name: "b", labels: { zone: "2" } } },
      ]);
      expect(new TextDecoder().decode(nodes[0]?.raw)).toBe(
        text.slice(text.indexOf('{"metadata":{"name":"\\u'), text.indexOf(' , {"metadata":{"lab')),
      );
    }
  }
});

test("A value far larger than the window is read, and its bytes are walked only a few times", () => {
  const labels = Array.from({ length: 20_000 }, (_, index) => `"key-${index}":"a value of some length"`).join(",");
  const body = encoder.encode(`{"Pod":{},"Nodes":{"items":[{"metadata":{"name":"n","labels":{${labels}}}}]}}`);
  const reading = argsInPieces({ wanted: pathTree(["metadata.labels"]), length: 0, retain: () => () => false });
  for (let at = 0; at < body.length; at += 100) reading.push(body.slice(at, at + 100));
  const [node] = reading.end().nodes;
  expect(node?.object).toMatchObject({
    metadata: { labels: { "key-0": "a value of some length", "key-19999": expect.any(String) } },
  });
  expect(node?.raw).toBeUndefined();
});
