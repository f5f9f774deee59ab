import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { type ApiProxy, type Asked, startApiProxy } from "./apiproxy.ts";
import type { StoredLedger } from "./bind-calls.ts";
import { applyInfra, createGpuNodes, deviceOf, type RunningBinder, startBinder } from "./binder.ts";
import { bind, filter, ledgerRef, metric, orphan, promisedOn, told } from "./faults.ts";
import { e2e } from "./gate.ts";

const REMADE = "The device ledger of the node was made anew; devices are placed there again in a minute or two";
const UNUSABLE = "The device ledger of the node cannot be used now";

/** Longer than a ledger that was made anew stays closed, and than a silent watch is believed. */
const PATIENCE = { within: 100_000, every: 500 };

await e2e("a binder that is told wrong", () => {
  let plane: ControlPlane;
  let proxy: ApiProxy;
  let binder: RunningBinder;
  /** Hears nothing from the start of the tests on. */
  let deaf: RunningBinder;
  /** Where the ledger came to grief before, and a pod that waits for it. */
  const waiting: { pod: Pod; node: string }[] = [];

  const start = async (name: string): Promise<[ApiProxy, RunningBinder]> => {
    const own = await startApiProxy(plane, `${name}-proxy`);
    return [own, await startBinder(plane, { name, open: true, env: { BERTH_KUBECONFIG: own.kubeconfig } })];
  };
  beforeAll(async () => {
    plane = await startControlPlane();
    await applyInfra(plane);
    const names = ["deleted", "broken", "newer", "shared"];
    await createGpuNodes(plane, names, { count: 1, each: 12 });
    let silence: ApiProxy;
    [[proxy, binder], [silence, deaf]] = [await start("binder"), await start("deaf")];
    await eventually("every watch is open", async () => (await metric(deaf, "berth_ready")) === 1);
    silence.muteWatches();
  });
  afterAll(() => plane?.stop());

  const now = (pod: Pod): Promise<Pod> => plane.api.get<Pod>(pod);
  const ledger = (node: string): Promise<StoredLedger> => plane.api.get<StoredLedger>(ledgerRef(node) as StoredLedger);
  const restarts = (reason: string, resource = "nodes", of = binder): Promise<number> =>
    metric(of, `berth_informer_restarts{resource="${resource}",reason="${reason}"}`);

  describe("with the ledger of a node", () => {
    const damaged = async (node: string, damage: (before: StoredLedger) => Promise<unknown>): Promise<string> => {
      const holder = await orphan(plane, `holds-${node}`, 8);
      expect(await bind(binder, holder, node)).toBe("");
      expect(await promisedOn(plane, node)).toEqual([`holds-${node}`]);
      await damage(await ledger(node));
      const pod = await orphan(plane, `wants-${node}`, 4);
      waiting.push({ pod, node });
      const refusal = await bind(binder, pod, node);
      expect(await told(plane, pod, "BindRefused")).toBe(1);
      expect((await now(pod)).spec.nodeName).toBeUndefined();
      return refusal;
    };

    it("deleted, knows who runs there all the same, and gives no device until nothing can be in flight", async () => {
      let epoch = "";
      const refusal = await damaged("deleted", async (before) => {
        epoch = before.spec.epoch;
        await plane.api.remove(before);
      });
      expect(refusal).toBe(REMADE);
      expect(await promisedOn(plane, "deleted")).toEqual(["holds-deleted"]);
      expect((await ledger("deleted")).spec.epoch).not.toBe(epoch);
    });

    it("broken, does not take it for an empty one", async () => {
      const refusal = await damaged("broken", (before) => {
        const claims = before.spec.claims.map((line) => line.replace(/claimedAt=\S+/, "claimedAt=yesterday"));
        return plane.api.patch(before, { spec: { claims } });
      });
      expect(refusal).toBe(REMADE);
      expect(await promisedOn(plane, "broken")).toEqual(["holds-broken"]);
    });

    it("written by a newer release, leaves it alone and says so", async () => {
      const refusal = await damaged("newer", (before) => plane.api.patch(before, { spec: { format: 2, claims: [] } }));
      expect(refusal).toBe(UNUSABLE);
      expect((await ledger("newer")).spec).toMatchObject({ format: 2, claims: [] });
      expect(binder.logs()).toContain("has format 2, written by a newer release");
      const { pod } = waiting.at(-1) as { pod: Pod };
      expect(await filter(binder, pod, "newer")).toContain("a newer release of the binder has written");
      expect(await metric(binder, 'berth_refusals_total{verb="bind",reason="ledger"}')).toBeGreaterThan(0);
    });
  });

  it("does not fill a device twice although its watches have fallen silent", async () => {
    const pods = await Promise.all([0, 1, 2, 3].map((index) => orphan(plane, `shared-${index}`, 4)));
    const [last, ...first] = pods.reverse();
    for (const pod of first) expect(await bind(binder, pod, "shared")).toBe("");
    expect(await bind(deaf, last as Pod, "shared")).toContain("no GPU with 4 aliyun.com/gpu-mem free");
    expect((await now(last as Pod)).spec.nodeName).toBeUndefined();
    expect(await bind(deaf, first[0] as Pod, "shared")).toBe("");
  });

  describe("by its watches", () => {
    /** Nodes and pods that come now are known to the binder, and a pod gets its device. */
    const follows = async (name: string): Promise<void> => {
      await createGpuNodes(plane, [name], { count: 1, each: 10, fresh: true });
      const pod = await orphan(plane, `pod-${name}`, 3);
      const plain = { ...pod, spec: { ...pod.spec, containers: [] } };
      await eventually("the new node is known", async () => (await filter(binder, plain, name)) === "");
      expect(await bind(binder, pod, "shared")).toContain("no GPU with 3 aliyun.com/gpu-mem free");
    };
    const watchesOf = ({ watch, path }: Asked): boolean => watch && path === "/api/v1/nodes";

    it("that were cut, hears of new nodes again (client-js #958)", async () => {
      proxy.cutWatches();
      await follows("after-the-cut");
      expect(await restarts("broken")).toBeGreaterThan(0);
      expect(await restarts("broken", "pods")).toBeGreaterThan(0);
    });

    it("that are answered 410 for ever, hears of new nodes by lists, and asks in moderation", async () => {
      const object = { kind: "Status", status: "Failure", code: 410, reason: "Expired", message: "too old" };
      const text = `${JSON.stringify({ type: "ERROR", object })}\n`;
      proxy.fault = ({ watch }) => (watch ? { status: 200, text } : undefined);
      const before = proxy.asked.length;
      proxy.cutWatches();
      await follows("while-expired");
      const asked = proxy.asked.slice(before).filter(watchesOf).length;
      expect(await restarts("expired")).toBeGreaterThan(1);
      expect(asked).toBeLessThan(20);
      proxy.fault = undefined;
      await follows("expired-no-more");
    });

    it("that bring garbage, keeps what it knows, stays ready, and hears of new nodes once that is over", async () => {
      proxy.fault = ({ watch, path }) =>
        watch || path === "/api/v1/nodes" ? { status: 200, text: "<html>a proxy's login page</html>\n" } : undefined;
      proxy.cutWatches();
      await eventually("garbage was seen", async () => (await restarts("garbage")) > 1);
      const pod = await orphan(plane, "in-the-dark", 3);
      expect(await filter(binder, pod, "shared")).toContain("no GPU with 3 aliyun.com/gpu-mem free");
      expect((await binder.get("/readyz")).status).toBe(200);
      expect(await metric(binder, 'berth_informer_connected{resource="nodes"}')).toBe(0);
      proxy.fault = undefined;
      await follows("after-the-garbage");
      await eventually(
        "connected",
        async () => (await metric(binder, 'berth_informer_connected{resource="nodes"}')) === 1,
      );
    });
  });

  it("gives devices again once a ledger that it made anew has been open to question for long enough", async () => {
    for (const { pod, node } of waiting.filter(({ node }) => node !== "newer")) {
      await eventually(`a device of node ${node}`, async () => (await bind(binder, pod, node)) === "", PATIENCE);
      expect(deviceOf(await now(pod))).toMatchObject({ index: "0", amount: "4" });
      expect(await promisedOn(plane, node)).toEqual([`holds-${node}`, `wants-${node}`]);
    }
  });

  it("notices that watches have fallen silent, and hears of nodes again (client-js #958)", async () => {
    const pod = await orphan(plane, "heard", 3);
    const plain = { ...pod, spec: { ...pod.spec, containers: [] } };
    const knows = async () => (await filter(deaf, plain, "after-the-garbage")) === "";
    await eventually("the new node is known to the binder that was deaf", knows, PATIENCE);
    expect(await restarts("stale", "nodes", deaf)).toBe(1);
  });
});
