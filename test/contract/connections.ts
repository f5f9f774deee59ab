import { describe, expect, it } from "vitest";
import { args, JSON_BODY, SCORES } from "./fixtures.ts";
import { AS_A, bearer, SECRETS } from "./secrets.ts";
import { inPieces } from "./sizes.ts";
import type { Call } from "./target.ts";
import type { Witness } from "./witness.ts";

const good: Call = { headers: { ...AS_A, ...JSON_BODY }, body: args() };
const stranger = { ...JSON_BODY, ...bearer("a token that nobody has") };
const megabyte = new Uint8Array(1024 * 1024).fill(0x20);

function* megabytes(count: number): Generator<Uint8Array> {
  for (let sent = 0; sent < count; sent++) yield megabyte;
}

/** What a connection sees that brings something bad, and then something good. */
export function connections(witness: () => Witness): void {
  describe("a connection", () => {
    it("carries one request after another", async () => {
      const connection = witness().connect();
      for (let index = 0; index < 5; index++) {
        expect((await connection.ask("/default/prioritize", good)).json).toEqual(SCORES);
      }
      expect(connection.opened).toBe(1);
      connection.close();
    });

    it.each<[what: string, path: string, call: Call, status: number]>([
      ["an empty body", "/default/filter", { ...good, body: "" }, 400],
      ["JSON that breaks off", "/default/filter", { ...good, body: '{"Pod":' }, 400],
      ["a stranger's request", "/default/filter", { ...good, headers: stranger }, 401],
      [
        "a stranger's large request",
        "/default/filter",
        { headers: stranger, body: new Uint8Array(20 * 1024 * 1024) },
        401,
      ],
      [
        "a stranger's request of unknown length",
        "/default/filter",
        { headers: stranger, body: inPieces(megabytes(20)) },
        401,
      ],
      ["a wrong path secret", `/${SECRETS.CLUSTER_A_PATH}x/default/filter`, { ...good, headers: JSON_BODY }, 404],
      ["an unknown profile", "/nowhere/filter", good, 404],
      ["an unknown verb", "/default/frobnicate", good, 404],
      ["a wrong method", "/default/filter", { headers: AS_A }, 405],
      ["a wrong method with a body", "/default", good, 405],
      ["a wrong content type", "/default/filter", { ...good, headers: { ...AS_A, "Content-Type": "text/plain" } }, 415],
    ])("carries a good request after %s", async (_, path, call, status) => {
      const connection = witness().connect();
      expect((await connection.ask(path, call)).status).toBe(status);
      expect((await connection.ask("/default/prioritize", good)).json).toEqual(SCORES);
      expect(connection.opened).toBe(1);
      connection.close();
    });

    it.each<[what: string, call: () => Call]>([
      ["a body over the limit", () => ({ ...good, body: new Uint8Array(33 * 1024 * 1024) })],
      ["a body over the limit of unknown length", () => ({ ...good, body: inPieces(megabytes(40)) })],
      ["a stranger's body over the limit", () => ({ headers: stranger, body: inPieces(megabytes(40)) })],
    ])("carries a good request after %s, or is closed in so many words", async (_, call) => {
      const connection = witness().connect();
      const refused = await connection.ask("/default/filter", call());
      expect([401, 413]).toContain(refused.status);
      expect((await connection.ask("/default/prioritize", good)).json).toEqual(SCORES);
      if (connection.opened > 1) expect(refused.headers.get("connection")).toBe("close");
      connection.close();
    });
  });
}
