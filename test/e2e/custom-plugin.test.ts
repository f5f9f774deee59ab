import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually, stays } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { apiServerVersion, controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { applyInfra } from "./binder.ts";
import { type CustomPlugin, startCustomPlugin } from "./custom-plugin.ts";
import { nextName, placed, plainNode, refused } from "./scheduling.ts";

const ZONE = "topology.kubernetes.io/zone";

let plane: ControlPlane;

beforeAll(async () => {
  await requirePrograms(controlPlanePrograms([apiServerVersion]));
  plane = await startControlPlane();
  await applyInfra(plane);
  await createNodes(plane.api, [
    plainNode("central", { [ZONE]: "eu-central-1b" }),
    plainNode("north", { [ZONE]: "eu-north-1a" }),
    plainNode("east", { [ZONE]: "ap-east-1a" }),
  ]);
});
afterAll(() => plane?.stop());

const partnerPod = (partner: string) => buildPod({ name: nextName(), labels: { "example.com/partner": partner } });

function schedulerFor({ extender }: CustomPlugin): Promise<Scheduler> {
  return startScheduler(plane, {
    version: apiServerVersion,
    config: { extenders: [extender], percentageOfNodesToScore: 100 },
  });
}

describe("A plugin of one's own, in the function only", () => {
  describe("with whenAway: skip", () => {
    let relay: CustomPlugin;
    let scheduler: Scheduler;
    beforeAll(async () => {
      relay = await startCustomPlugin(plane, "skip");
      scheduler = await schedulerFor(relay);
    });
    afterAll(async () => {
      await scheduler?.stop();
      await relay?.binder.stop();
    });

    test("sends pods where only it could have sent them, and is asked once for pods that are alike", async () => {
      const pods = await Promise.all(
        ["acquirer", "carrier", "acquirer", "carrier"].map((partner) => plane.api.create(partnerPod(partner))),
      );
      const nodes = await Promise.all(pods.map((pod) => placed(plane, pod)));
      expect(nodes).toEqual(["central", "north", "central", "north"]);
      const asked = relay.proxy.passed.filter((path) => path.endsWith("/evaluate"));
      expect(asked).toHaveLength(2);
      const { metadata } = await plane.api.get<Pod>(pods[0] as Pod);
      expect(metadata.annotations?.["berth.dev/policy"]).toMatch(/^default@[0-9a-f]{12}$/);
      expect(relay.fn.logs()).not.toContain("hostname");
    });

    test("is done without while the function is away, and used again once it is back", async () => {
      relay.proxy.fault = "killed";
      // Nothing is remembered of this partner, and NearPartner would refuse every node.
      const stranger = await plane.api.create(partnerPod("carrier-of-no-other-pod"));
      await placed(plane, stranger);
      const metrics = async () => (await relay.binder.get("/metrics")).text;
      await eventually("the function is known to be away", async (saw) => {
        await placed(plane, await plane.api.create(partnerPod(`unknown-${nextName()}`)));
        const text = await metrics();
        saw(text.split("\n").filter((line) => line.startsWith("berth_far")));
        return /^berth_function_away 1$/m.test(text);
      });
      relay.proxy.fault = undefined;
      await eventually("it is used again", async () => /^berth_function_away 0$/m.test(await metrics()));
      const back = relay.proxy.passed.length;
      await placed(plane, await plane.api.create(partnerPod(`unknown-${nextName()}`)));
      expect(relay.proxy.passed.slice(back)).toContain("/default/evaluate");
    });
  });

  describe("with whenAway: reject", () => {
    let relay: CustomPlugin;
    let scheduler: Scheduler;
    beforeAll(async () => {
      relay = await startCustomPlugin(plane, "reject");
      scheduler = await schedulerFor(relay);
    });
    afterAll(async () => {
      await scheduler?.stop();
      await relay?.binder.stop();
    });

    test("keeps pods waiting with one constant reason while the function is away, and lands them after its return", async () => {
      const first = await plane.api.create(partnerPod("acquirer"));
      expect(await placed(plane, first)).toBe("central");
      relay.proxy.fault = { status: 500, text: "{}" };
      const waiting = await plane.api.create(partnerPod("carrier"));
      expect(await refused(plane, waiting)).toContain(
        "3 node(s) could not be judged: the function that has the policy's plugin does not answer",
      );
      const unbound = async () => (await plane.api.get<Pod>(waiting)).spec.nodeName === undefined;
      await stays("pending", unbound, 2_000);
      // What is remembered needs no function.
      expect(await placed(plane, await plane.api.create(partnerPod("acquirer")))).toBe("central");
      relay.proxy.fault = undefined;
      expect(await placed(plane, waiting)).toBe("north");
    });
  });
});
