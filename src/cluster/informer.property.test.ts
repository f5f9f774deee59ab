import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { refuse } from "./api-fixture.ts";
import { expired, type FakeCluster, fakeCluster, follow } from "./cluster-fixture.ts";
import { metadataText } from "./metadata.ts";
import { systemTiming, type Timing } from "./timing.ts";

/** Twenty times as fast, so that ten seconds of backoff are half a second. */
const hasty: Timing = { ...systemTiming, after: (ms, run) => systemTiming.after(ms / 20, run) };

const name = fc.constantFrom("a", "b", "c", "d", "e");
const step = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom("put", "replace", "remove"), name) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom("cut", "end", "expire", "garbage", "bad", "break", "mend", "yield"), name),
  },
);

function act(cluster: FakeCluster, what: string, pod: string, turn: number): void {
  const acts: Readonly<Record<string, () => unknown>> = {
    put: () => cluster.put(pod, { nodeName: `n${turn}` }),
    replace: () => cluster.put(pod, { nodeName: `n${turn}` }, `uid-${turn}`),
    remove: () => cluster.remove(pod),
    cut: () => cluster.cut(),
    end: () => cluster.endWatches(),
    expire: () => cluster.silently(() => void cluster.send(expired)),
    garbage: () => cluster.send("{"),
    bad: () => cluster.send('{"type":"ADDED","object":{}}'),
    break: () => {
      cluster.fault = (_, answer) => Boolean(refuse(answer, turn % 2 === 0 ? 500 : 429, "Trouble") ?? true);
    },
    mend: () => {
      cluster.fault = undefined;
    },
  };
  acts[what]?.();
}

it("an informer and its handlers end up with exactly what the cluster has, whatever happens on the way", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const cluster = await fakeCluster();
      const { informer } = await follow(cluster, { timing: hasty });
      const mine = new Map<string, JsonObject>();
      const wrong: string[] = [];
      informer.subscribe({
        add: (object) => {
          if (mine.has(metadataText(object, "name"))) wrong.push("added twice");
          mine.set(metadataText(object, "name"), object);
        },
        update: (object, previous) => {
          if (mine.get(metadataText(object, "name")) !== previous) wrong.push("updated from something else");
          if (metadataText(object, "uid") !== metadataText(previous, "uid")) wrong.push("updated to another pod");
          mine.set(metadataText(object, "name"), object);
        },
        delete: (object) => {
          if (!mine.delete(metadataText(object, "name"))) wrong.push("deleted twice");
        },
      });
      for (const [turn, [what, pod]] of steps.entries()) {
        act(cluster, what, pod, turn);
        await new Promise((resolve) => setImmediate(resolve));
      }
      cluster.fault = undefined;
      cluster.put("last");
      const inCluster = (): unknown[] =>
        cluster
          .now()
          .map((object) => metadataText(object, "resourceVersion"))
          .sort();
      const here = (): unknown[] =>
        [...informer.values()].map((object) => metadataText(object, "resourceVersion")).sort();
      await expect.poll(here, { timeout: 10_000 }).toEqual(inCluster());
      expect([...mine.values()].sort()).toEqual([...informer.values()].sort());
      expect(wrong).toEqual([]);
      await informer.stop();
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 120_000);
