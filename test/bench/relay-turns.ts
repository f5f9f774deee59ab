import { setTimeout as sleep } from "node:timers/promises";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import type { Pod } from "../controlplane/objects.ts";
import { apiServerVersion } from "../controlplane/programs.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { inParallel } from "./binder-targets.ts";
import { type BoundWatch, watchBound } from "./bound.ts";
import { removePods } from "./pods-gone.ts";
import type { RelayArm, RelayRival } from "./relay-arms.ts";
import { type Pods, podOf } from "./relay-cluster.ts";
import { mean, rateOf, thereAndBack } from "./turns.ts";
import { usageOf } from "./usage.ts";

/** The same pods for every rival. */
export interface Case {
  readonly pods: Pods;
  /** `percentageOfNodesToScore`; undefined is kube-scheduler's default. */
  readonly percentage?: number;
}

/** How much of it. */
export interface Size {
  /** Pods of each turn that count. */
  readonly count: number;
  /** Times there and back, two turns of each rival every time. */
  readonly runs: number;
  /** Pods that each places before that, in one turn that does not count. */
  readonly warmUp: number;
}

/** What placing pods showed. */
export interface Placing {
  readonly podsPerSecond: number;
  /** CPU of the extender's process per pod, in milliseconds; NaN without an extender. */
  readonly cpuMs: number;
}

/** What two that took turns have shown. */
export interface Turns {
  /** For each run one figure of each. */
  readonly runs: readonly (readonly [Placing, Placing])[];
  readonly asked: Asked;
}

/** What the second one asked of the function, per pod that it has placed. */
export interface Asked {
  readonly questions: number;
  readonly bytes: number;
  readonly waits: number;
}

/** A rival with a kube-scheduler of its own. */
interface Side {
  readonly at: 0 | 1;
  readonly arm: RelayArm;
  readonly scheduler: Scheduler;
}

interface Scene {
  readonly plane: ControlPlane;
  readonly pods: Pods;
  readonly bound: BoundWatch;
  readonly sides: readonly [Side, Side];
  /** Pods that there were so far: no two are of the same index. */
  made: number;
}

/**
 * Goes before what counts of a turn, as a part of it, and as much again after it. Who was frozen has news of the
 * cluster to read; and a kube-scheduler decides ahead of its Bindings, so that a turn whose last pod counts would hold
 * Bindings of pods that were decided before it, more of them the further its Bindings lag behind.
 */
const ASIDE = 0.5;

/**
 * Two rivals place the same pods on one cluster, in turns of a few seconds: a machine has better and worse minutes, and
 * neighbouring turns share them. Each has a kube-scheduler of its own, which is frozen while it has no turn.
 *
 * @throws {Error} when a kube-scheduler places no more of its pods
 */
export async function takeTurns(
  plane: ControlPlane,
  rivals: readonly [RelayRival, RelayRival],
  { one, size }: { readonly one: Case; readonly size: Size },
): Promise<Turns> {
  const bound = await watchBound(plane);
  const sides: Side[] = [];
  try {
    for (const at of [0, 1] as const) sides.push(await startSide(plane, rivals[at], { one, at }));
    const scene: Scene = { plane, pods: one.pods, bound, sides: sides as unknown as Scene["sides"], made: 0 };
    const runs: [Placing, Placing][] = [];
    for (const side of scene.sides) await turn(scene, side, size.warmUp / (1 + 2 * ASIDE));
    for (let run = 0; run < size.runs; run++) runs.push(await runOf(scene, size.count));
    const metrics = await scene.sides[1].arm.metrics?.();
    return { runs, asked: readAsked(metrics ?? "", scene.made / 2) };
  } finally {
    for (const { scheduler } of sides) scheduler.process.signal("SIGCONT");
    bound.stop();
    for (const { scheduler, arm } of sides) {
      await scheduler.stop();
      await arm.stop();
    }
    await removePods(plane.api);
  }
}

function schedulerOf(at: number): string {
  return `bench-${at}`;
}

/** Starts a rival and its kube-scheduler, and freezes the latter: an extender that has to catch up would pay in its own turn. */
async function startSide(
  plane: ControlPlane,
  rival: RelayRival,
  { one, at }: { readonly one: Case; readonly at: 0 | 1 },
): Promise<Side> {
  const arm = await rival.start(plane);
  const scheduler = await startScheduler(plane, {
    version: apiServerVersion,
    verbosity: 0,
    config: {
      extenders: [...arm.extenders],
      profiles: [{ schedulerName: schedulerOf(at) }],
      ...(one.percentage !== undefined && { percentageOfNodesToScore: one.percentage }),
    },
  });
  scheduler.process.signal("SIGSTOP");
  return { at, arm, scheduler };
}

async function runOf(scene: Scene, count: number): Promise<[Placing, Placing]> {
  const [own, other] = await thereAndBack(...scene.sides, (side) => turn(scene, side, count));
  return [together(own), together(other)];
}

function together(turns: readonly Placing[]): Placing {
  return {
    podsPerSecond: rateOf(turns.map(({ podsPerSecond }) => podsPerSecond)),
    cpuMs: mean(turns.map(({ cpuMs }) => cpuMs)),
  };
}

/** The pods are there before the turn begins, and all of them are bound at its end; those in the middle count. */
async function turn(scene: Scene, side: Side, count: number): Promise<Placing> {
  const { bound } = scene;
  const aside = Math.ceil(count * ASIDE);
  const pods = Array.from({ length: aside + count + aside }, () => podOfSide(scene, side));
  await inParallel(pods, 24, (pod) => scene.plane.api.create(pod));
  const { pid } = side.arm;
  const cpu = async () => (pid === undefined ? Number.NaN : (await usageOf(pid)).cpuMs);
  const from = bound.at.length + aside;
  side.scheduler.process.signal("SIGCONT");
  await bound.reached(from);
  const before = await cpu();
  await bound.reached(from + count);
  const after = await cpu();
  await bound.reached(from + count + aside);
  // The last answers and events are still under way.
  await sleep(SETTLING_MS);
  side.scheduler.process.signal("SIGSTOP");
  const [began = Number.NaN, ended = Number.NaN] = [bound.at[from - 1], bound.at[from + count - 1]];
  return { podsPerSecond: (count * 1000) / (ended - began), cpuMs: (after - before) / count };
}

const SETTLING_MS = 200;

function podOfSide(scene: Scene, { at }: Side): Pod {
  const pod = podOf(scene.pods, scene.made++);
  return { ...pod, spec: { ...pod.spec, schedulerName: schedulerOf(at) } };
}

function readAsked(metrics: string, pods: number): Asked {
  const perPod = (name: string) =>
    [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    ) / pods;
  return {
    questions: perPod("berth_far_questions_total"),
    bytes: perPod("berth_far_bytes_total"),
    waits: perPod("berth_far_waits_total"),
  };
}
