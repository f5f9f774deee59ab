import { describe, expect, it } from "vitest";
import type { Objects } from "../placement/followed.ts";
import type { PlacedPod } from "../placement/model.ts";
import type { JsonObject } from "../protocol/json.ts";
import { createCluster } from "./cluster.ts";
import { follow } from "./follow.ts";
import { createQueue } from "./queue.ts";
import { stillTiming, testNode, testPod } from "./scheduler-fixture.ts";

type Handler = Parameters<Objects["subscribe"]>[0];

/** Objects of one resource that change when a test says so. */
function watched() {
  const handlers: Handler[] = [];
  const objects: Objects = {
    get: () => undefined,
    values: () => [],
    subscribe(handler) {
      handlers.push(handler);
      return () => undefined;
    },
  };
  const say = (what: (handler: Handler) => void): void => {
    for (const handler of handlers) what(handler);
  };
  return {
    objects,
    add: ({ object }: { readonly object: JsonObject }) => say((handler) => handler.add?.(object)),
    remove: ({ object }: { readonly object: JsonObject }) => say((handler) => handler.delete?.(object)),
  };
}

function setUp() {
  const [pods, nodes] = [watched(), watched()];
  const cluster = createCluster(() => undefined);
  const queue = createQueue(stillTiming(), () => undefined);
  const [seen, gone]: [PlacedPod[], string[]] = [[], []];
  follow(
    { pods: pods.objects, nodes: nodes.objects },
    {
      ...{ cluster, queue, schedulerName: "berth", deviceFreed: () => undefined },
      seen: (pod) => seen.push(pod),
      nodeGone: (node) => gone.push(node),
    },
  );
  return { pods, nodes, cluster, queue, seen, gone };
}

describe("following the cluster", () => {
  it("says which node has gone, so that nothing of it is kept", () => {
    const { nodes, cluster, gone } = setUp();
    for (const name of ["one", "two"]) nodes.add(testNode(name));
    nodes.remove(testNode("one"));
    expect(gone).toEqual(["one"]);
    expect(cluster.nodes().map(({ name }) => name)).toEqual(["two"]);
  });

  it("queues pods that wait for this scheduler, and shows those that have a node to whoever looks for them", () => {
    const { pods, cluster, queue, seen } = setUp();
    pods.add(testPod("waits"));
    pods.add(testPod("placed", { node: "one" }));
    expect([queue.take()?.pod.name, queue.take()]).toEqual(["waits", undefined]);
    expect(cluster.podOn("placed")?.node).toBe("one");
    expect(seen.map(({ name, nodeName }) => [name, nodeName])).toContainEqual(["placed", "one"]);
  });
});
