import { describe, expect, it } from "vitest";
import type { ListenerEnv } from "../adapters/listener.ts";
import { watch } from "./binder-fixture.ts";
import { createServer, type ServerOptions } from "./server.ts";

const well = () => ({ problems: [], facts: { leader: true } });

function server(options: Partial<ServerOptions> = {}) {
  const watched = watch();
  const counted: string[] = [];
  const app = createServer({
    extender: { fetch: () => new Response("turned away", { status: 404 }) },
    identify: async ({ peer }) => (peer.loopback ? { name: "here" } : undefined),
    state: watched.state,
    metrics: {
      text: async () => "berth_ready 1\n",
      contentType: "text/plain",
      request: (verb, outcome) => void counted.push(`${verb} ${outcome}`),
    },
    ready: well,
    alive: well,
    ...options,
  });
  const get = async (path: string, loopback = true) => {
    const env = { peer: { loopback } } as ListenerEnv;
    const response = await app.fetch(new Request(`http://localhost${path}`), env);
    return { status: response.status, text: await response.text() };
  };
  return { watched, counted, get };
}

describe("the binder's paths", () => {
  it("answer probes with 200 as long as nothing is wrong, and with 503 and what it is otherwise", async () => {
    const { get } = server({ ready: () => ({ problems: ["pods: not read yet"], facts: {} }) });
    expect((await get("/healthz")).status).toBe(200);
    const { status, text } = await get("/readyz");
    expect([status, JSON.parse(text)]).toEqual([
      503,
      { status: "not ready", problems: ["pods: not read yet"], release: "0.1.0" },
    ]);
  });

  it("tell metrics and version to anybody, and who holds which device to known callers only", async () => {
    const { watched, get } = server();
    watched.node("gpu-1", [1, 10]);
    watched.node("plain");
    expect(await get("/metrics", false)).toEqual({ status: 200, text: "berth_ready 1\n" });
    expect(await get("/version", false)).toEqual({ status: 200, text: "0.1.0" });
    for (const path of ["/inspect", "/inspect/gpu-1", "/gpushare-scheduler/inspect"]) {
      expect((await get(path, false)).status).toBe(401);
      expect(JSON.parse((await get(path)).text).nodes).toMatchObject([{ name: "gpu-1", totalGPU: 10, usedGPU: 0 }]);
    }
    expect(JSON.parse((await get("/inspect/none")).text).error).toContain('node "none" is not known');
  });

  it("hand everything else to the extender, and count what it turns away", async () => {
    const { get, counted } = server();
    expect(await get("/gpu/filter")).toEqual({ status: 404, text: "turned away" });
    expect(counted).toEqual(["any http_404"]);
  });
});
