import { describe, expect, it } from "vitest";
import { args, itemsText, JSON_BODY, NODES, nodeText, SCORES } from "./fixtures.ts";
import { AS_A } from "./secrets.ts";
import type { Abilities } from "./target.ts";
import type { Witness } from "./witness.ts";

const headers = { ...AS_A, ...JSON_BODY };
const MIB = 1024 * 1024;

/** The default limit of a body. */
const DEFAULT_LIMIT = 32 * MIB;

/**
 * The nodes of a cluster whose filter request is 14 MB, as an installation of 780 nodes reported (kubernetes #121527). Every fourth
 * is refused.
 */
function largeCluster(): readonly string[] {
  const padding = "x".repeat(17_600);
  return Array.from({ length: 780 }, (_, index) =>
    nodeText(`node-${index}`, {
      type: "small",
      labels: { padding, ...(index % 4 === 3 && { "berth.dev/retiring": "" }) },
    }),
  );
}

/** Text in pieces, so that nobody can know its length beforehand. */
export function inPieces(pieces: Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

function* cut(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

function* blanks(bytes: number): Generator<Uint8Array> {
  for (let sent = 0; sent < bytes; sent += MIB) yield new Uint8Array(Math.min(MIB, bytes - sent)).fill(0x20);
}

/** Large requests, and too large ones. */
export function sizes(witness: () => Witness, { limit = DEFAULT_LIMIT }: Pick<Abilities, "limit">): void {
  const ask = (verb: string, body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>) =>
    witness().ask(`/default/${verb}`, { headers, body });

  const fits = limit > 14.2e6;

  if (!fits)
    it("refuses a request of 780 nodes and 14 MB in words, where the platform takes less", async () => {
      const { status, json } = await ask("filter", args({ nodes: largeCluster() }));
      expect(status).toBe(413);
      expect(json).toMatchObject({ error: expect.stringContaining("send fewer nodes") });
    });

  if (fits)
    describe("a request of 780 nodes and 14 MB (kubernetes #121527)", { timeout: 120_000 }, () => {
      const nodes = largeCluster();

      it("is answered as any other, ten at a time, each with its own nodes", async () => {
        const questions = Array.from({ length: 10 }, (_, turn) => [...nodes.slice(turn), ...nodes.slice(0, turn)]);
        expect(args({ nodes }).length).toBeGreaterThan(14e6);
        const answers = await Promise.all(questions.map((asked) => ask("filter", args({ nodes: asked }))));
        for (const [turn, { status, text }] of answers.entries()) {
          expect(status).toBe(200);
          const kept = questions[turn]?.filter((node) => !node.includes("berth.dev/retiring"));
          // Not toBe: a difference of megabytes would be printed.
          expect(itemsText(text) === kept?.join(",")).toBe(true);
        }
        expect((await ask("prioritize", args())).json).toEqual(SCORES);
      });

      it("is read the same when its length is not told beforehand", async () => {
        const body = new TextEncoder().encode(args({ nodes }));
        const { status, json } = await ask("prioritize", inPieces(cut(body, 1_000_003)));
        expect(status).toBe(200);
        expect(json).toHaveLength(780);
      });
    });

  describe("a body over the limit", () => {
    const told = { error: `the body is larger than ${limit} bytes: raise the limit or send fewer nodes` };

    it("is refused by its real size when its length is not told", async () => {
      const { status, json } = await ask("filter", inPieces(blanks(limit + MIB)));
      expect(status).toBe(413);
      expect(json).toEqual(told);
      expect((await ask("prioritize", args())).json).toEqual(SCORES);
    });

    it("is refused by the length that it has", async () => {
      const { status, json } = await ask("prioritize", new Uint8Array(limit + 1).fill(0x20));
      expect(status).toBe(413);
      expect(json).toEqual(told);
      expect((await ask("prioritize", args())).json).toEqual(SCORES);
    });

    it("is read when it has the last byte that is allowed", async () => {
      const body = args({ nodes: [NODES.small] });
      const full = new Uint8Array(limit).fill(0x20);
      full.set(new TextEncoder().encode(body));
      const { status, json } = await ask("prioritize", full);
      expect(status).toBe(200);
      expect(json).toEqual([{ Host: "small", Score: 10 }]);
    });
  });
}
