import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GarbageError, readLines } from "./watch-stream.ts";

async function* inChunks(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (let turn = 0; start < bytes.length; turn++) {
    const end = start + (sizes[turn % sizes.length] ?? 1);
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function collect(stream: AsyncIterable<readonly string[]>): Promise<string[]> {
  const all: string[] = [];
  for await (const lines of stream) all.push(...lines);
  return all;
}

describe("the lines of a watch", () => {
  it("are the same however the bytes are cut into chunks, also within a character", async () => {
    const line = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !text.includes("\n"));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (lines, sizes) => {
          const bytes = new TextEncoder().encode(lines.map((text) => `${text}\n`).join(""));
          expect(await collect(readLines(inChunks(bytes, sizes)))).toEqual(lines);
        },
      ),
    );
  });

  it("do not count empty ones, or one that is not finished", async () => {
    const bytes = new TextEncoder().encode("\n\na\n\nb");
    expect(await collect(readLines(inChunks(bytes, [2])))).toEqual(["a"]);
  });

  it("may not be endless, so that no stream can fill the memory", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      const chunk = new Uint8Array(1024 * 1024).fill(97);
      for (;;) yield chunk;
    }
    await expect(collect(readLines(endless()))).rejects.toThrow(GarbageError);
  });
});
