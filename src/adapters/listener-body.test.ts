import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { listenerPour } from "./listener-body.ts";
import { start } from "./listener-fixture.ts";

test("The memory of what was taken of an HTTP/1.1 body is free before the garbage collector comes", async () => {
  const taken: Uint8Array[] = [];
  let sum = 0;
  const { url } = await start({
    fetch: async (asked, env) => {
      await listenerPour(asked, env, (chunk) => {
        taken.push(chunk);
        for (const byte of chunk) sum += byte;
        return true;
      });
      return new Response("taken");
    },
  });
  const asking = request(url, { method: "POST" });
  asking.end(Buffer.alloc(300_000, 1));
  const [answer] = await once(asking, "response");
  answer.resume();
  expect(sum).toBe(300_000);
  expect(taken.map(({ byteLength }) => byteLength)).toEqual(taken.map(() => 0));
});
