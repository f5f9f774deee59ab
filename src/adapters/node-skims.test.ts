import { describe, expect, it } from "vitest";
import { pathTree } from "../protocol/paths.ts";
import { argsInPieces } from "../protocol/read-args.ts";
import { createSkims, type Skim, type Skims } from "../protocol/skim.ts";
import { nodeSkims } from "./node-skims.ts";

const encoder = new TextEncoder();
const wanted = pathTree(["metadata.labels[zone]"]);
const retain = () => () => true;

/** Escapes, quotes and brackets, as part of a JSON string. */
const FILLER = 'x\\"}{]';

/** A request whose nodes carry `filler` bytes that nobody wants. */
function bodyOf(zone: string, nodes: number, filler: number): Uint8Array {
  const status = `{"images":[["${FILLER.repeat(filler / FILLER.length)}"]]}`;
  const items = Array.from(
    { length: nodes },
    (_, index) => `{"status":${status},"metadata":{"name":"n-${index}","labels":{"zone":"${zone}"}}}`,
  );
  return encoder.encode(`{"Pod":{},"Nodes":{"items":[${items.join(",")}]}}`);
}

/** Reads bodies at once, a piece of each in turn, and answers the zones of each. */
function readInTurns(bodies: readonly Uint8Array[], skims: Skims | undefined): string[][] {
  const readings = bodies.map((body) => argsInPieces({ wanted, retain, skims, length: body.length }));
  for (let at = 0; bodies.some((body) => at < body.length); at += 10_000) {
    for (const [index, reading] of readings.entries())
      reading.push(bodies[index]?.slice(at, at + 10_000) as Uint8Array);
  }
  return readings.map((reading) =>
    reading
      .end()
      .nodes.map(({ object }) => (object as { metadata: { labels: { zone: string } } }).metadata.labels.zone),
  );
}

/** The same instances, counted. */
function counted(skims: Skims): { readonly skims: Skims; readonly seen: Set<Skim> } {
  const seen = new Set<Skim>();
  const take = (size: number) => {
    const skim = skims.take(size);
    if (skim) seen.add(skim);
    return skim;
  };
  return { skims: { ...skims, take }, seen };
}

describe("reading requests with WebAssembly on Node", () => {
  const skims = nodeSkims() as Skims;

  it("is what Node does", () => {
    expect(nodeSkims()).toBeDefined();
  });

  it("keeps many requests that arrive at once apart", () => {
    const zones = ["a", "b", "c", "d", "e", "f", "g"];
    const read = readInTurns(
      zones.map((zone) => bodyOf(zone, 30, 20_000)),
      skims,
    );
    expect(read).toEqual(zones.map((zone) => new Array(30).fill(zone)));
  });

  it("reads a node larger than the window, and gives its memory up afterwards", () => {
    const { skims: pool, seen } = counted(nodeSkims() as Skims);
    expect(readInTurns([bodyOf("a", 2, 1_000_000)], pool)).toEqual([["a", "a"]]);
    expect(readInTurns([bodyOf("b", 2, 1_000)], pool)).toEqual([["b", "b"]]);
    const [grown, next] = [...seen].map(({ memory }) => memory.buffer.byteLength);
    expect(grown).toBeGreaterThan(1_000_000);
    expect(next).toBeLessThan(400_000);
  });

  it("uses memory again, also that of requests that were refused on the way or at their end", () => {
    const { skims: pool, seen } = counted(nodeSkims() as Skims);
    const refused = ['{"Pod":{},"Nodes":{"items":[7', `{"Pod":{},!${"x".repeat(300_000)}`].map((text) =>
      encoder.encode(text),
    );
    for (let round = 0; round < 3; round++) {
      for (const body of refused) expect(() => readInTurns([body], pool)).toThrow(/^the body is/);
      expect(readInTurns([bodyOf("a", 1, 100)], pool)).toEqual([["a"]]);
    }
    expect(seen.size).toBe(1);
  });

  it("does without where the machine gives no such memory", () => {
    const none = createSkims(() => {
      throw new RangeError("could not allocate memory");
    });
    expect(readInTurns([bodyOf("a", 30, 20_000)], none)).toEqual([new Array(30).fill("a")]);
  });
});
