import { once } from "node:events";
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { afterTest } from "../cluster/api-fixture.ts";
import { startServer } from "./server.ts";

async function setUp() {
  const server = await startServer({
    ...{ host: "127.0.0.1", port: 0 },
    metrics: { text: async () => "metrics\n", contentType: "text/plain" },
    ready: () => ({ problems: ["pods: not read yet"], facts: {} }),
    alive: () => ({ problems: [], facts: { leader: false } }),
  });
  afterTest(server.stop);
  /** The path as it is, which no URL would keep. */
  return async (path: string): Promise<number | undefined> => {
    const asked = request(server.url, { path, agent: false }).end();
    const [answer] = await once(asked, "response");
    answer.resume();
    return answer.statusCode;
  };
}

describe("the scheduler's probes", () => {
  it("answer what was asked for, with a query or without", async () => {
    const ask = await setUp();
    expect(await ask("/healthz")).toBe(200);
    expect(await ask("/readyz?verbose")).toBe(503);
    expect(await ask("/metrics")).toBe(200);
  });

  it("outlive a request for something that is no path", async () => {
    const ask = await setUp();
    for (const target of ["//", "//[", "http://[", "*"]) expect(await ask(target)).toBe(404);
    expect(await ask("/healthz")).toBe(200);
  });
});
