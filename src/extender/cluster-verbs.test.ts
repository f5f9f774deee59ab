import { describe, expect, it } from "vitest";
import { createApp } from "./app.ts";
import type { Peer } from "./callers.ts";
import type { Asking, ClusterVerbs } from "./cluster-verbs.ts";

const certificate = { names: ["kube-scheduler"], sha256: "00" };
const binding = { PodName: "a", PodNamespace: "default", PodUID: "u", Node: "n" };

function appWith(cluster: Partial<ClusterVerbs>, peer: Peer = { loopback: false, certificate }) {
  return createApp({
    deciders: () => ({
      policy: "p@1",
      wanted: undefined as never,
      decide: async () => ({ error: "not asked here" }),
      evaluate: async () => ({}),
      describe: () => ({}),
    }),
    identify: async () => ({ name: "scheduler" }),
    peer: () => peer,
    log: () => undefined,
    now: () => 0,
    cluster: { bind: async () => ({ fields: {} }), preempt: async () => ({ victims: new Map() }), ...cluster },
  });
}

const post = (body: object) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

describe("bind where the cluster is at hand", () => {
  it("answers 200 with an empty Error when the pod is bound, and is told which policy placed it", async () => {
    const asked: unknown[] = [];
    const bind: ClusterVerbs["bind"] = async (args, asking: Asking) => {
      asked.push(args, asking.profile, asking.policy);
      return { fields: {} };
    };
    const response = await appWith({ bind }).request("/gpu/bind", post(binding));
    expect([response.status, await response.json()]).toEqual([200, { Error: "" }]);
    expect(asked).toEqual([{ namespace: "default", name: "a", uid: "u", node: "n" }, "gpu", "p@1"]);
  });

  it("answers 200 with the reason when it is not", async () => {
    const bind = async () => ({ error: "no device is free", fields: {} });
    const response = await appWith({ bind }).request("/gpu/bind", post(binding));
    expect([response.status, await response.json()]).toEqual([200, { Error: "no device is free" }]);
  });

  it("answers 400 to a body without the pod's UID", async () => {
    const response = await appWith({}).request("/gpu/bind", post({ ...binding, PodUID: "" }));
    expect([response.status, await response.json()]).toEqual([400, { error: "PodUID is missing" }]);
  });

  it.each(["bind", "preempt"])("turns %s away from a caller without a verified client certificate", async (verb) => {
    const response = await appWith({}, { loopback: false }).request(`/gpu/${verb}`, post(binding));
    expect([response.status, await response.json()]).toEqual([
      403,
      { error: `${verb} takes a verified client certificate, or a caller on this machine` },
    ]);
  });

  it("lets callers on this machine bind, and others still evaluate and describe", async () => {
    expect((await appWith({}, { loopback: true }).request("/gpu/bind", post(binding))).status).toBe(200);
    expect((await appWith({}, { loopback: false }).request("/gpu")).status).toBe(200);
  });
});

describe("preempt where the cluster is at hand", () => {
  const question = { Pod: { metadata: { name: "a" } }, NodeNameToMetaVictims: { n: { Pods: [{ UID: "v" }] } } };

  it("names the victims of each node that can be helped", async () => {
    const victims = new Map([["n", { Pods: [{ UID: "v" }] as const, NumPDBViolations: 0 }]]);
    const response = await appWith({ preempt: async () => ({ victims }) }).request("/gpu/preempt", post(question));
    expect(await response.json()).toEqual({
      NodeNameToMetaVictims: { n: { Pods: [{ UID: "v" }], NumPDBViolations: 0 } },
    });
  });

  it("answers 503 while nobody can tell, so that the scheduler tries again", async () => {
    const preempt = async () => ({ error: "not read yet" });
    expect((await appWith({ preempt }).request("/gpu/preempt", post(question))).status).toBe(503);
  });
});
