import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gpuClaim, gpuNode, gpuPod, type PodSketch, podObject } from "./gpu-fixture.ts";
import type { PlacedPod } from "./model.ts";
import { isTerminating, placedPod } from "./placed.ts";
import { chooseVictims, type Scene } from "./victims.ts";
import { budgetFor, type Setting, sceneOf } from "./victims-fixture.ts";

const APPS = ["x", "y"];
const PRIORITY = 3;

/** One of `values`, the first most often. */
function mostly<T>(...values: readonly T[]): fc.Arbitrary<T> {
  return fc.integer({ min: 0, max: 9 + values.length }).map((dice) => values[Math.max(0, dice - 10)] as T);
}

const sketch = fc.record({
  gpu: fc.integer({ min: 1, max: 4 }),
  device: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 0, max: 1 }) },
    { weight: 1, arbitrary: mostly(undefined, 2) },
  ),
  priority: fc.constantFrom(0, 1, 1, 2, 2, PRIORITY),
  started: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  terminating: mostly(false, true),
  phase: mostly("Running", "Failed"),
  labels: fc.subarray(APPS).map((apps) => Object.fromEntries(apps.map((app) => [app, ""]))),
});

const situation = fc.record({
  devices: fc.constantFrom(1, 2, 2, 2, 3),
  total: fc.integer({ min: 6, max: 9 }),
  unhealthy: mostly<readonly string[]>([], ["0"], ["1"], ["2"]),
  sketches: fc.array(sketch, { minLength: 3, maxLength: 9, size: "max" }),
  claim: mostly(undefined, 1, 3),
  allowed: fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 2 })),
  gpu: fc.integer({ min: 3, max: 8 }),
  own: fc.oneof(fc.constant<string[]>([]), fc.subarray(["u0", "u1", "u2", "nobody"], { maxLength: 2 })),
  roomAbove: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
});

type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;

interface Stage extends Setting {
  readonly object: ReturnType<typeof podObject>;
  readonly scene: Scene;
  readonly allowed: readonly number[];
}

function stage({ devices, total, unhealthy, sketches, claim, allowed, gpu, roomAbove }: Situation): Stage {
  const object = podObject({ uid: "p", gpu, priority: PRIORITY });
  const pods = sketches.map(({ device, started, ...rest }, index) =>
    gpuPod({
      ...(rest as Omit<PodSketch, "uid">),
      uid: `u${index}`,
      node: "n",
      ...(device !== undefined && { device }),
      ...(started !== undefined && { started }),
    }),
  );
  const room = (without: ReadonlySet<string>) =>
    pods.filter(({ uid }) => without.has(uid)).reduce((sum, { request }) => sum + Number(request), 0) >=
    (roomAbove ?? 0);
  const setting: Setting = {
    node: gpuNode("n", [devices, devices * total], [...unhealthy]),
    pods,
    claims: claim === undefined ? [] : [gpuClaim("q", 0, claim)],
    budgets: APPS.map((app, index) => budgetFor(app, allowed[index] ?? 0)),
    ...(roomAbove !== undefined && { room }),
  };
  return { ...setting, object, scene: sceneOf(placedPod(object), setting), allowed };
}

function choose({ object, scene }: Stage, own: readonly string[]): readonly string[] {
  const found = chooseVictims({ pod: object, victims: new Map([["n", own]]) }, scene).get("n");
  return found?.Pods.map(({ UID }) => UID) ?? [];
}

/** The pods that may be named at all. */
function nameable({ pods }: Stage): PlacedPod[] {
  return pods.filter(({ terminal, priority }) => !terminal && priority < PRIORITY);
}

function* subsets<T>(all: readonly T[]): Generator<T[]> {
  for (let mask = 0; mask < 2 ** all.length; mask++) yield all.filter((_, index) => mask & (1 << index));
}

/** How many of these, in this order, find a budget used up. */
function violationsOf(victims: readonly PlacedPod[], allowed: readonly number[]): number {
  const left = [...allowed];
  return victims.filter(({ object }) => {
    const { labels } = object["metadata"] as { labels: Record<string, string> };
    for (const [index, app] of APPS.entries()) {
      if (labels[app] === undefined) continue;
      left[index] = (left[index] ?? 0) - 1;
      if ((left[index] ?? 0) < 0) return true;
    }
    return false;
  }).length;
}

/** The cost of victims as the documentation words it, written a second time and in another way. */
function cost({ pods, allowed }: Stage, uids: readonly string[]): readonly number[] {
  const started = (pod: PlacedPod) =>
    Date.parse(((pod.object["status"] ?? {}) as { startTime?: string }).startTime ?? "9999-01-01");
  const victims = pods
    .filter((pod) => uids.includes(pod.uid) && !isTerminating(pod))
    .sort((a, b) => b.priority - a.priority || started(a) - started(b) || (a.uid < b.uid ? -1 : 1));
  const violations = violationsOf(victims, allowed);
  const top = victims[0];
  const sum = victims.reduce((total, { priority }) => total + priority + 2 ** 31, 0);
  return [violations, top?.priority ?? -1, sum, victims.length, top ? -started(top) : Number.NEGATIVE_INFINITY];
}

function compare(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((value, index) => value !== right[index]);
  return at < 0 ? 0 : (left[at] as number) < (right[at] as number) ? -1 : 1;
}

/** True when the filter keeps the node without these, and so do kube-scheduler's own plugins as far as one can tell. */
function suffices(one: Stage, own: ReadonlySet<string>, uids: ReadonlySet<string>): boolean {
  const keepsOwn = own.isSubsetOf(uids) || one.room?.(uids) === true;
  return keepsOwn && one.scene.fits("n", uids);
}

/** Every set of victims of which none can be given back. */
function minimalSets(one: Stage, asked: readonly string[]): string[][] {
  const uids = nameable(one).map(({ uid }) => uid);
  const own = new Set(asked).intersection(new Set(uids));
  return [...subsets(uids)].filter((set) => {
    const whole = new Set(set);
    if (!suffices(one, own, whole)) return false;
    return set.every((uid) => !suffices(one, own, whole.difference(new Set([uid]))));
  });
}

describe("the victims of any small node", () => {
  it("are the cheapest of all sets in which every pod is needed, found by trying every set", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const one = stage({ ...given, roomAbove: undefined });
        const found = choose(one, given.own);
        const costs = minimalSets(one, given.own)
          .filter((set) => set.length > 0)
          .map((set) => cost(one, set))
          .sort(compare);
        if (costs[0] === undefined) expect(found).toEqual([]);
        else expect(cost(one, found)).toEqual(costs[0]);
      }),
      { numRuns: 600 },
    );
  });

  it("are each needed and never costlier when the node is known to have room, than without that knowledge", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const one = stage(given);
        const found = choose(one, given.own);
        const own = nameable(one).filter(({ uid }) => given.own.includes(uid));
        const uids = own.map(({ uid }) => uid).toSorted();
        const ofOwn = one.scene.fits("n", new Set(uids));
        const sets = ofOwn ? [uids] : minimalSets(one, given.own).map((set) => set.toSorted());
        if (found.length > 0) expect(sets).toContainEqual(found.toSorted());
        const blind = choose(stage({ ...given, roomAbove: undefined }), given.own);
        expect(found.length > 0).toBe(blind.length > 0);
        expect(compare(cost(one, found), cost(one, blind))).toBeLessThanOrEqual(0);
      }),
      { numRuns: 250 },
    );
  });

  it("are pods of that node, of lower priority, alive, each named once, the most important first", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const one = stage(given);
        const found = choose(one, given.own);
        const allowed = new Map(nameable(one).map((pod) => [pod.uid, pod.priority]));
        expect(new Set(found).size).toBe(found.length);
        const priorities = found.map((uid) => allowed.get(uid));
        expect(priorities).not.toContain(undefined);
        expect(priorities).toEqual(priorities.toSorted((a, b) => (b ?? 0) - (a ?? 0)));
        if (found.length > 0) expect(one.scene.fits("n", new Set(found))).toBe(true);
      }),
    );
  });
});
