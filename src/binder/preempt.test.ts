import { describe, expect, it } from "vitest";
import { gpuClaim, podObject } from "../placement/gpu-fixture.ts";
import { gpushareLive, watch } from "./binder-fixture.ts";
import { preemptLive } from "./preempt.ts";

const asked = (victims: Record<string, string[]>, gpu: number | "none" = 6) => ({
  pod: podObject({ uid: "high", ...(gpu !== "none" && { gpu }), priority: 1_000 }),
  victims: new Map(Object.entries(victims)),
});

async function helped(watched: ReturnType<typeof watch>, args: ReturnType<typeof asked>) {
  const answer = await preemptLive(await gpushareLive(watched.state), args);
  if ("error" in answer) throw new Error(answer.error);
  return Object.fromEntries([...answer.victims].map(([node, { Pods }]) => [node, Pods.map(({ UID }) => UID)]));
}

describe("preempt from the cluster as it is", () => {
  it("adds the victims that free one device, and leaves a node out that evicting cannot help", async () => {
    const watched = watch();
    watched.node("gpu-1", [1, 10]);
    watched.node("small", [1, 5]);
    watched.pod({ uid: "low", gpu: 8, node: "gpu-1", device: 0, priority: 1 });
    watched.pod({ uid: "other", gpu: 5, node: "small", device: 0, priority: 1 });
    expect(await helped(watched, asked({ "gpu-1": ["low"], small: ["other"], unknown: ["x"] }))).toEqual({
      "gpu-1": ["low"],
    });
  });

  it("evicts nobody on a node whose ledger is closed or of a newer release, for a pod that asks for devices", async () => {
    const watched = watch();
    for (const name of ["open", "closed", "newer"]) {
      watched.node(name, [1, 10]);
      watched.pod({ uid: `low-${name}`, gpu: 8, node: name, device: 0, priority: 1 });
    }
    watched.ledger("closed", [], 5_000);
    watched.newerLedger("newer");
    const victims = { open: ["low-open"], closed: ["low-closed"], newer: ["low-newer"] };
    expect(await helped(watched, asked(victims))).toEqual({ open: ["low-open"] });
    expect(Object.keys(await helped(watched, asked(victims, "none")))).toEqual(Object.keys(victims));
  });

  it("evicts nobody around the promises of victims that are gone already", async () => {
    const watched = watch();
    watched.node("gpu-1", [2, 20]);
    watched.pod({ uid: "kept", gpu: 6, node: "gpu-1", device: 0, priority: 100 });
    watched.pod({ uid: "beside", gpu: 4, node: "gpu-1", device: 0, priority: 1 });
    watched.ledger("gpu-1", [gpuClaim("kept", 0, 6), gpuClaim("gone-a", 1, 5), gpuClaim("gone-b", 1, 5)]);
    expect(await helped(watched, asked({ "gpu-1": ["gone-a", "gone-b"] }, 8))).toEqual({});
  });

  it("waits a moment for a victim that kube-scheduler has heard of before the binder", async () => {
    const watched = watch();
    watched.node("gpu-1", [1, 10]);
    watched.pod({ uid: "bound-meanwhile", priority: 1 });
    const answer = helped(watched, asked({ "gpu-1": ["new", "bound-meanwhile"] }, "none"));
    watched.pod({ uid: "new", node: "gpu-1", priority: 1 });
    watched.pod({ uid: "bound-meanwhile", node: "gpu-1", priority: 2 });
    expect(await answer).toEqual({ "gpu-1": ["bound-meanwhile", "new"] });
  });

  it("spares pods of the same or a higher priority, and counts the budgets it violates", async () => {
    const watched = watch();
    watched.node("gpu-1", [2, 20]);
    watched.pod({ uid: "peer", gpu: 8, node: "gpu-1", device: 0, priority: 1_000 });
    watched.pod({ uid: "low", gpu: 8, node: "gpu-1", device: 1, priority: 1, labels: { app: "web" } });
    watched.budget({
      metadata: { name: "web", namespace: "default" },
      spec: { selector: { matchLabels: { app: "web" } } },
      status: { disruptionsAllowed: 0 },
    });
    const answer = await preemptLive(await gpushareLive(watched.state), asked({ "gpu-1": ["low"] }));
    expect(answer).toEqual({ victims: new Map([["gpu-1", { Pods: [{ UID: "low" }], NumPDBViolations: 1 }]]) });
  });
});
