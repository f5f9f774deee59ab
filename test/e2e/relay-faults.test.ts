import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { apiServerVersion, controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { applyInfra } from "./binder.ts";
import { type CustomPlugin, startCustomPlugin } from "./custom-plugin.ts";
import { FUNCTION_FAULTS, OTHER_VERSION } from "./function-faults.ts";
import { nextName, placed, plainNode } from "./scheduling.ts";

const ZONE = "topology.kubernetes.io/zone";

let plane: ControlPlane;
let relay: CustomPlugin;
/** Every version that the function, or what stands before it, has ever told. */
let served: ReadonlySet<string>;

beforeAll(async () => {
  await requirePrograms(controlPlanePrograms([apiServerVersion]));
  plane = await startControlPlane();
  await applyInfra(plane);
  await createNodes(plane.api, [
    plainNode("central", { [ZONE]: "eu-central-1b" }),
    plainNode("north", { [ZONE]: "eu-north-1a" }),
  ]);
  relay = await startCustomPlugin(plane, "skip");
  await startScheduler(plane, {
    version: apiServerVersion,
    config: { extenders: [relay.extender], percentageOfNodesToScore: 100 },
  });
  const first = await plane.api.create(unlike("acquirer"));
  expect(await placed(plane, first)).toBe("central");
  served = new Set([(await policyOf(first)) ?? "", `default@${OTHER_VERSION}`]);
});
afterAll(() => plane?.stop());

/** A pod like no other in what the plugin reads: nothing is remembered of it. */
function unlike(partner: string): Pod {
  const name = nextName();
  return buildPod({ name, labels: { "example.com/partner": partner, app: name } });
}

async function policyOf(pod: Pod): Promise<string | undefined> {
  return (await plane.api.get<Pod>(pod)).metadata.annotations?.["berth.dev/policy"];
}

const isAway = async () => /^berth_function_away 1$/m.test((await relay.binder.get("/metrics")).text);

describe("A function that fails in mid-load", () => {
  test.each(FUNCTION_FAULTS.map((each) => [each.told, each] as const))(
    "and %s: pods go on being placed by a version that it served, and it is used again once it is back",
    async (_, { fault, away }) => {
      relay.proxy.fault = fault();
      const pods = await Promise.all(Array.from({ length: 6 }, () => plane.api.create(unlike("acquirer"))));
      for (const pod of pods) {
        await placed(plane, pod);
        expect(served).toContain(await policyOf(pod));
      }
      if (away) {
        await eventually("nobody waits for it any more", async () => {
          await placed(plane, await plane.api.create(unlike("acquirer")));
          return isAway();
        });
      }
      relay.proxy.fault = undefined;
      const back = relay.proxy.passed.length;
      await eventually("it is used again", async () => !(await isAway()), { within: 5_000 });
      await eventually("its plugin decides again", async (saw) => {
        const node = await placed(plane, await plane.api.create(unlike("carrier")));
        saw(node);
        return node === "north";
      });
      expect(relay.proxy.passed.slice(back)).toContain("/default/evaluate");
      const decided = relay.binder
        .logs()
        .split("\n")
        .filter((line) => line.includes('"message":"decision"'));
      for (const line of decided) expect(served).toContain(JSON.parse(line).policy);
    },
  );
});
