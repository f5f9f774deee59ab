import { describe, expect, it } from "vitest";
import { createApp } from "../extender/app.ts";
import { type PodSketch, podObject } from "../placement/gpu-fixture.ts";
import { createAttempts } from "./attempts.ts";
import { bindLive } from "./bind.ts";
import { gpushareLive, protocolOn, watch } from "./binder-fixture.ts";
import { liveDecider } from "./decider.ts";

/** A binder on one node of so many devices with so much memory together, asked as kube-scheduler asks. */
async function scene(devices: readonly [count: number, total: number]) {
  const watched = watch();
  watched.node("gpu-1", devices);
  const { api, protocol } = protocolOn(watched, "gpu-1");
  const options = { state: watched.state, protocol, attempts: createAttempts(), record: () => undefined };
  const decider = liveDecider(await gpushareLive(watched.state), () => undefined);
  const app = createApp({
    deciders: () => decider,
    identify: async () => ({ name: "scheduler" }),
    peer: () => ({ loopback: true }),
    log: () => undefined,
    now: Date.now,
    cluster: {
      bind: (args, asking) => bindLive(options, args, asking),
      preempt: async () => ({ victims: new Map() }),
    },
  });
  const ask = async (verb: string, args: object): Promise<string> => {
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify(args);
    const request = new Request(`http://binder/gpushare-scheduler/${verb}`, { method: "POST", headers, body });
    const answer = await app.fetch(request);
    expect(answer.status).toBe(200);
    return answer.text();
  };
  return {
    watched,
    api,
    /** The answer as it goes over the wire. */
    judge: (verb: "filter" | "prioritize", pod: PodSketch, ...names: string[]) =>
      ask(verb, { Pod: podObject(pod), Nodes: null, NodeNames: names }),
    /** Why the pod was not bound; empty when it is. */
    async bind(pod: PodSketch, asked: "first" | "again" = "first"): Promise<string> {
      const { uid } = pod;
      const { namespace, name } = asked === "first" ? api.addPod(pod) : { namespace: "default", name: `pod-${uid}` };
      const args = { PodNamespace: namespace, PodName: name, PodUID: uid, Node: "gpu-1" };
      return JSON.parse(await ask("bind", args)).Error;
    },
  };
}

describe("what users of such systems have reported does not happen here", () => {
  it("a second pod of 11 is not put beside the first on a card of 20, and one of 25 nowhere, for good (gpushare #219)", async () => {
    const { bind, judge, api } = await scene([1, 20]);
    expect(await bind({ uid: "first", gpu: 11 })).toBe("");
    expect(await bind({ uid: "second", gpu: 11 })).toBe("node(s) had no GPU with 11 aliyun.com/gpu-mem free");
    expect(api.pod("second")?.nodeName).toBe("");
    const answer = JSON.parse(await judge("filter", { uid: "asks", gpu: 25 }, "gpu-1"));
    expect(Object.values(answer.FailedAndUnresolvableNodes)).toEqual([expect.stringContaining("as large as the 25")]);
  });

  it("evictions are not tried where they cannot help, and are where they can (k/k #91281)", async () => {
    const { watched, judge } = await scene([1, 10]);
    watched.node("without");
    watched.pod({ uid: "holder", gpu: 8, node: "gpu-1", device: 0 });
    const answer = JSON.parse(await judge("filter", { uid: "asks", gpu: 5 }, "gpu-1", "without"));
    expect(Object.keys(answer.FailedNodes)).toEqual(["gpu-1"]);
    expect(Object.keys(answer.FailedAndUnresolvableNodes)).toEqual(["without"]);
  });

  it("one pod whose Binding hangs does not keep others from the node for minutes (HAMi #1130)", async () => {
    const { api, bind } = await scene([1, 10]);
    const held = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    api.intercept = async ({ op, argument }, serve) => {
      if (op === "postBinding" && (argument as { uid: string }).uid === "slow") {
        arrived.resolve();
        await held.promise;
      }
      return serve();
    };
    const slow = bind({ uid: "slow", gpu: 4 });
    await arrived.promise;
    expect(await bind({ uid: "quick", gpu: 4 })).toBe("");
    expect(await bind({ uid: "late", gpu: 4 })).toContain("no GPU with 4");
    held.resolve();
    expect(await slow).toBe("");
  });

  it("cards without memory and nodes without cards score 0, not null, and the next request is answered (HAMi #1780)", async () => {
    const { watched, judge } = await scene([3, 0]);
    watched.node("without");
    watched.node("real", [1, 10]);
    const text = await judge("prioritize", { uid: "asks", gpu: 5 }, "gpu-1", "without");
    expect(JSON.parse(text)).toEqual([
      { Host: "gpu-1", Score: 0 },
      { Host: "without", Score: 0 },
    ]);
    expect(JSON.parse(await judge("filter", { uid: "asks", gpu: 5 }, "gpu-1", "without", "real")).NodeNames).toEqual([
      "real",
    ]);
  });

  it("a pod that asks for a number of cards and no memory is refused in words, without a number out of nowhere (HAMi #1781)", async () => {
    const { bind, judge } = await scene([1, 10]);
    const pod = { uid: "count", spec: { containers: [{ resources: { limits: { "aliyun.com/gpu-count": "1" } } }] } };
    const reason = await bind(pod);
    expect(reason).toContain("aliyun.com/gpu-count");
    expect(reason).not.toMatch(/\d/);
    expect(await judge("filter", pod, "gpu-1")).toContain(reason);
  });

  it("a pod with two containers on the GPU is refused where its containers could not start (gpushare #143)", async () => {
    const asks = (amount: string) => ({ resources: { limits: { "aliyun.com/gpu-mem": amount } } });
    const pod = { uid: "two", spec: { containers: [asks("1"), asks("2")] } };
    const many = await scene([2, 20]);
    const reason = await many.bind(pod);
    expect(reason).toContain("2 containers");
    expect(await many.judge("filter", pod, "gpu-1")).toContain(reason);
    const single = await scene([1, 10]);
    expect(await single.bind(pod)).toBe("");
  });

  it("a sidecar that runs as long as its pod holds its memory, an init container that is over does not (HAMi #2563)", async () => {
    const asks = (amount: string) => ({ resources: { limits: { "aliyun.com/gpu-mem": amount } } });
    const { bind, api } = await scene([1, 10]);
    const initContainers = [asks("9"), { ...asks("4"), restartPolicy: "Always" }];
    const spec = { initContainers, containers: [asks("3")] };
    expect(await bind({ uid: "pod", spec })).toBe("");
    expect(api.ledger("gpu-1")?.claims).toMatchObject([{ podUid: "pod", amount: 7n }]);
  });

  it("a bind that is asked for twice is done once and answered as done twice (k/k #96579)", async () => {
    const { bind, api } = await scene([1, 10]);
    expect(await bind({ uid: "pod", gpu: 3 })).toBe("");
    const before = api.pod("pod");
    expect(await bind({ uid: "pod", gpu: 3 }, "again")).toBe("");
    expect(api.pod("pod")).toEqual(before);
    expect(api.requests.filter(({ op }) => op === "postBinding")).toHaveLength(1);
  });

  it("a pod that is gone by the time of its Binding gives its device back at once (HAMi #2923)", async () => {
    const { api, bind } = await scene([1, 10]);
    api.intercept = ({ op }, serve) => {
      if (op === "postBinding") api.changePod("gone", () => undefined);
      return serve();
    };
    expect(await bind({ uid: "gone", gpu: 10 })).toBe("The pod does not exist any more");
    api.intercept = (_, serve) => serve();
    expect(await bind({ uid: "next", gpu: 10 })).toBe("");
  });
});
