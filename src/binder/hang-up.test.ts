import { request } from "node:http";
import { constants } from "node:http2";
import { expect, it, vi } from "vitest";
import { session, start, tlsFiles } from "../adapters/listener-fixture.ts";
import type { EventDraft } from "../cluster/event-object.ts";
import { createApp } from "../extender/app.ts";
import { createAttempts } from "./attempts.ts";
import { bindLive } from "./bind.ts";
import { gpushareLive, protocolOn, watch } from "./binder-fixture.ts";
import { liveDecider } from "./decider.ts";

const PATH = "/gpushare-scheduler/bind";
const headers = { "Content-Type": "application/json" };

/** A call that can be given up. */
type Call = (url: string, body: string) => Promise<() => void>;

const http1: Call = async (url, body) => {
  const call = request(`${url}${PATH}`, { method: "POST", headers });
  call.on("error", () => undefined);
  call.end(body);
  return () => void call.destroy();
};

/** As Go's client gives a request up whose time is over: it resets the stream and keeps the connection. */
const http2: Call = async (url, body) => {
  const client = await session(url);
  const stream = client.request({ ":method": "POST", ":path": PATH, "content-type": "application/json" });
  stream.on("error", () => undefined);
  stream.end(body);
  return () => stream.close(constants.NGHTTP2_CANCEL);
};

it.each([
  ["HTTP/1.1", http1],
  ["HTTP/2", http2],
])("emits Scheduled for a pod that is bound after its scheduler has hung up over %s", async (protocolName, call) => {
  const watched = watch();
  watched.node("gpu-1", [1, 10]);
  const { api, protocol } = protocolOn(watched, "gpu-1");
  const events: EventDraft[] = [];
  const [arrived, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  api.intercept = async ({ op }, serve) => {
    if (op === "postBinding") {
      arrived.resolve();
      await held.promise;
    }
    return serve();
  };
  const signals: AbortSignal[] = [];
  const options = {
    state: watched.state,
    protocol,
    attempts: createAttempts(),
    record: (event: EventDraft) => void events.push(event),
  };
  const decider = liveDecider(await gpushareLive(watched.state), () => undefined);
  const app = createApp({
    deciders: () => decider,
    identify: async () => ({ name: "scheduler" }),
    peer: () => ({ loopback: true }),
    log: () => undefined,
    now: Date.now,
    cluster: {
      bind: (args, asking) => {
        signals.push(asking.signal);
        return bindLive(options, args, asking);
      },
      preempt: async () => ({ victims: new Map() }),
    },
  });
  const tls = protocolName === "HTTP/2" ? { tls: await tlsFiles() } : {};
  const { url } = await start({ fetch: (...asked) => app.fetch(...asked), ...tls });

  const { namespace, name, uid } = api.addPod({ uid: "a", gpu: 6 });
  const body = JSON.stringify({ PodNamespace: namespace, PodName: name, PodUID: uid, Node: "gpu-1" });
  const hangUp = await call(url, body);
  await arrived.promise;
  hangUp();
  await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true));
  held.resolve();

  await vi.waitFor(() => expect(events.map(({ reason }) => reason)).toEqual(["DeviceAssigned", "Scheduled"]));
  expect(api.pod("a")?.nodeName).toBe("gpu-1");
});
