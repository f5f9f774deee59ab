import { expect, test } from "vitest";
import { bodyOf } from "./answer-body.ts";

test("A small answer is put together", () => {
  expect(bodyOf([Uint8Array.of(1), Uint8Array.of(2, 3)])).toEqual({ body: Uint8Array.of(1, 2, 3) });
});

test("A large answer is sent part by part, and says how many bytes it has", async () => {
  const parts = [new Uint8Array(300_000).fill(1), Uint8Array.of(2), new Uint8Array(300_000).fill(3)];
  const { body, length } = bodyOf(parts);
  expect(length).toBe(600_001);
  const sent: Uint8Array[] = [];
  for await (const part of body as unknown as AsyncIterable<Uint8Array>) sent.push(part);
  expect(sent).toEqual(parts);
});
