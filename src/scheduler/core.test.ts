import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { fakeApi, kubeconfig, refuse } from "../cluster/api-fixture.ts";
import { startCore } from "./core.ts";

/** A server that keeps connections for as long as the other side does. */
function patient(): { readonly server: Server; readonly closed: Promise<unknown>[] } {
  const server = createServer();
  server.keepAliveTimeout = 0;
  const closed: Promise<unknown>[] = [];
  server.on("connection", (socket: Socket) => void closed.push(once(socket, "close")));
  return { server, closed };
}

describe("starting the scheduler", () => {
  it("leaves nothing running when the API server cannot be asked: the process ends", async () => {
    const { server, closed } = patient();
    const api = await fakeApi((_, answer) => refuse(answer, 500, "InternalError"));
    const there = await fakeApi((_, answer) => refuse(answer, 404, "NotFound"), server);
    const starting = startCore(
      {
        ...{ schedulerName: "berth", ignored: new Set(), percentage: 0, random: () => 0, log: () => undefined },
        source: { kubeconfig: await kubeconfig(api.url) },
        listen: { host: "127.0.0.1", port: 0 },
        function: { url: there.url, token: () => "secret", profile: "default", every: 5, versionKey: "test" },
      },
      "test",
    );
    await expect(starting).rejects.toThrow(`The API server at ${api.url} cannot be asked what it serves`);
    expect(closed.length).toBeGreaterThan(0);
    await Promise.all(closed);
  });
});
