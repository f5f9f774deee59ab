import fc from "fast-check";
import { expect, it } from "vitest";
import { gpuClaim, gpuNode, gpuPod } from "./gpu-fixture.ts";
import type { PlacedPod } from "./model.ts";
import { rememberingUsage } from "./remembered-usage.ts";
import { type Presence, usageOf, type Viewpoint } from "./usage.ts";

const node = gpuNode("n", [2, 20]);
const uid = fc.constantFrom("a", "b", "c");
const amount = fc.integer({ min: 0, max: 6 });
const pod = (sketch: Parameters<typeof gpuPod>[0]): PlacedPod => gpuPod(sketch);

const bound = fc.record({
  uid,
  gpu: amount,
  device: fc.constantFrom(0, 1),
  phase: fc.constantFrom("Running", "Failed"),
});
const pods = fc.uniqueArray(bound, { selector: (each) => each.uid, maxLength: 3 });
const claims = fc.array(fc.tuple(uid, fc.constantFrom(0, 1), amount), { maxLength: 2 });
const nominated = fc.array(fc.record({ uid, gpu: amount, priority: amount }), { maxLength: 1 });
const viewpoint = fc.record({
  for: fc.option(fc.record({ uid, priority: amount }), { nil: undefined, freq: 2 }),
  without: fc.option(
    uid.map((each) => new Set([each])),
    { nil: undefined, freq: 2 },
  ),
});
/** What changes before somebody asks again, if anything. */
const change = fc.record({
  pods: fc.option(pods, { freq: 2 }),
  claims: fc.option(claims, { freq: 2 }),
  nominated,
  viewpoint,
});

it("answers as if everything had been added up again, whoever asks and whatever has changed", () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 2, maxLength: 8 }), (changes) => {
      const usage = rememberingUsage();
      let now: Presence = { pods: [], claims: [] };
      for (const { viewpoint: asks, ...change } of changes) {
        now = {
          pods: change.pods?.map((each) => pod({ ...each, node: "n" })) ?? now.pods,
          claims: change.claims?.map((claim) => gpuClaim(...claim)) ?? now.claims,
          nominated: change.nominated.map((each) => pod({ ...each, nominated: "n" })),
        };
        const by = asks as Viewpoint;
        const [told, wanted] = [usage(node, now, by), usageOf(node, now, by)];
        expect(told.holders).toEqual(wanted.holders);
        for (const { id } of node.devices) expect(told.used(id)).toBe(wanted.used(id));
      }
    }),
  );
});
