import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connection, connect } from "../../src/cluster/connection.ts";
import type { Informer } from "../../src/cluster/informer.ts";
import { nodeInformer, podInformer, unhealthyGpuInformer } from "../../src/cluster/informers.ts";
import { metadataText } from "../../src/cluster/metadata.ts";
import { watchOnce } from "../../src/cluster/reflect.ts";
import { createStore } from "../../src/cluster/store.ts";
import { systemTiming } from "../../src/cluster/timing.ts";
import { POD_PATHS } from "../../src/placement/placed.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { buildNodes, createNodes } from "../controlplane/nodes.ts";
import { buildFullPod, buildPod } from "../controlplane/pods.ts";
import { controlPlanePrograms } from "../controlplane/programs.ts";
import { gated } from "./gate.ts";

/** Newer servers send everything over the watch when they are asked to; those without the feature are listed first. */
const SERVERS = [
  { server: "an API server with watch lists", flags: [], lists: 0 },
  { server: "an API server without watch lists", flags: ["--feature-gates=WatchList=false"], lists: 1 },
] as const;

await gated("informers", controlPlanePrograms([]), () => {
  describe.each(SERVERS)("on $server", ({ flags, lists }) => {
    let plane: ControlPlane;
    let connection: Connection;
    /** The lists and watches that went out. */
    const asked: string[] = [];

    beforeAll(async () => {
      plane = await startControlPlane({ flags });
      const real = await connect({ kubeconfig: await plane.kubeconfig("admin") });
      plane.onStop(() => real.close());
      connection = {
        ...real,
        call: (call) => {
          asked.push("list");
          return real.call(call);
        },
        watch: (call) => {
          asked.push("watch");
          return real.watch(call);
        },
      };
    }, 120_000);
    afterAll(() => plane?.stop());

    const started = async (start: () => Informer): Promise<Informer> => {
      const informer = start();
      plane.onStop(() => informer.stop());
      await informer.whenSynced;
      return informer;
    };
    const names = (informer: Informer): string[] =>
      [...informer.values()].map((object) => metadataText(object, "name")).sort();
    const knows = (informer: Informer, expected: readonly string[]): Promise<unknown> =>
      eventually(`the informer knows ${expected.join(", ")}`, (saw) => {
        saw(names(informer));
        return names(informer).join() === [...expected].sort().join();
      });

    it("know what is there and what changes, in plain JSON cut down to what was asked for", async () => {
      await createNodes(plane.api, buildNodes(2, { namePrefix: "node-" }));
      await plane.api.create(buildFullPod({ name: "one", labels: { a: "b" } }));
      const pods = await started(() => podInformer({ connection, paths: POD_PATHS }));
      const changes: string[] = [];
      pods.subscribe({
        add: (object) => void changes.push(`add ${metadataText(object, "name")}`),
        update: (object) => void changes.push(`update ${metadataText(object, "name")}`),
        delete: (object) => void changes.push(`delete ${metadataText(object, "name")}`),
      });
      const two = await plane.api.create(buildPod({ name: "two" }));
      await knows(pods, ["one", "two"]);
      await plane.api.patch(two, { metadata: { labels: { x: "y" } } });
      await plane.api.remove(two);
      await knows(pods, ["one"]);
      // The API server tells of a deletion twice: it is asked for, then done.
      expect([...new Set(changes)]).toEqual(["add one", "add two", "update two", "delete two"]);
      const one = pods.get("one", "default") as { metadata: JsonObject; spec: { containers: JsonObject[] } };
      expect(Object.keys(one.metadata).sort()).toEqual(["labels", "name", "namespace", "resourceVersion", "uid"]);
      for (const container of one.spec.containers) {
        expect(["name", "image", "ports", "resources", "restartPolicy"]).toEqual(
          expect.arrayContaining(Object.keys(container)),
        );
      }
    });

    it("lose a pod that is over, as kube-scheduler does", async () => {
      const pods = await started(() => podInformer({ connection, paths: POD_PATHS }));
      const done = await plane.api.create(buildPod({ name: "done" }));
      await eventually("the pod is known", () => pods.get("done", "default"));
      await plane.api.patch(done, { status: { phase: "Succeeded" } }, { subresource: "status" });
      await eventually("the pod is over", () => pods.get("done", "default") === undefined);
    });

    it("know the ConfigMaps of unhealthy devices and no others", async () => {
      asked.splice(0);
      const maps = await started(() => unhealthyGpuInformer({ connection, paths: ["data"] }));
      expect(asked.filter((each) => each === "list")).toHaveLength(lists);
      const map = (name: string, namespace: string) =>
        plane.api.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { gpus: "0" } });
      await map("unhealthy-gpu-node-0", "default");
      await map("something-else", "kube-system");
      await map("unhealthy-gpu-node-0", "kube-system");
      await knows(maps, ["unhealthy-gpu-node-0"]);
      expect(maps.get("unhealthy-gpu-node-0", "kube-system")).toMatchObject({ data: { gpus: "0" } });
    });

    it("go on after the API server was killed, and know what happened meanwhile", async () => {
      const nodes = await started(() => nodeInformer({ connection, paths: ["metadata.labels"] }));
      const pods = await started(() => podInformer({ connection, paths: POD_PATHS }));
      expect(names(nodes)).toEqual(["node-0", "node-1"]);
      await plane.restartApiServer({
        whileDown: () => eventually("it is noticed", () => !pods.state().connected).then(),
      });
      await plane.api.create(buildPod({ name: "afterwards" }));
      await eventually("the new pod is known", () => pods.get("afterwards", "default"));
      await eventually("both are well", (saw) => {
        saw([nodes.state(), pods.state()]);
        return nodes.state().connected && pods.state().connected;
      });
      expect(pods.state()).toMatchObject({ badObjects: 0, handlerErrors: 0, synced: true });
    });

    it("are told by the server when their version is too old", async () => {
      const store = createStore({ resource: "pods", paths: [], timing: systemTiming, warn: () => undefined });
      const reflection = { connection, path: "/api/v1/pods", query: {}, store };
      const calls = { heard: () => undefined, reached: () => undefined };
      const options = { signal: AbortSignal.timeout(20_000), seconds: 10 };
      expect(await watchOnce(reflection, { version: "1" }, calls, options)).toMatchObject({ reason: "expired" });
    });
  });
});
