import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, createGpuNodes, gpuPod, type RunningBinder } from "../e2e/binder.ts";
import { profiles } from "../e2e/scheduling.ts";
import { inParallel } from "./binder-targets.ts";
import { type BoundWatch, watchBound } from "./bound.ts";
import { CARD, createReporting, filtersAsked, REPORTING, type Reporting, waitRefused } from "./quiet-noise.ts";
import { usageOf } from "./usage.ts";

/** How a kube-scheduler is set: as the documentation says, or as it comes. */
export type Setting = "tuned" | "default";

/** How many of everything a measurement has. */
export interface QuietSize {
  readonly nodes: number;
  /** Pods that wait refused, where some do. */
  readonly pending: number;
  /** New pods of each turn whose rate is measured; half as many go before them. All of all turns have to fit the devices. */
  readonly pods: number;
  readonly tries: Readonly<Record<Setting, number>>;
  readonly spread: Readonly<Record<Setting, number>>;
}

/** What is measured: pods' statuses change, and others wait refused or do not. */
export interface QuietRun {
  readonly version: string;
  readonly setting: Setting;
  readonly refused: boolean;
  readonly size: QuietSize;
  /** How often all turns are taken, after once that does not count. */
  readonly runs: number;
}

/** Turns right after each other: with all that goes on, and without. */
export interface QuietPair {
  readonly amid: QuietFigures;
  readonly alone: QuietFigures;
}

/** What placing new pods showed. */
export interface QuietFigures {
  /** New pods placed per second. */
  readonly rate: number;
  /** Pods that wait tried again, per second, while new ones were placed. */
  readonly retries: number;
  /** CPU of the binder per new pod, in milliseconds. */
  readonly binderMs: number;
}

/** Everything that a turn needs. */
interface Scene {
  readonly plane: ControlPlane;
  readonly binder: RunningBinder;
  /** One for the turns with everything, one for those without; whoever has no turn is frozen. */
  readonly schedulers: Readonly<Record<keyof QuietPair, Scheduler>>;
  readonly reporting: Reporting;
  readonly bound: BoundWatch;
  /** Pods that are on a node, or will be. */
  placed: number;
}

const TYPE = { apiVersion: "v1", kind: "Pod", namespace: "default" } as const;
const HALVES = ["amid", "alone"] as const;

/** Creates the nodes of every run. */
export function createQuietNodes(plane: ControlPlane, { nodes }: QuietSize): Promise<unknown> {
  const names = Array.from({ length: nodes }, (_, index) => `quiet-${index}`);
  return createGpuNodes(plane, names, { count: 2, each: CARD });
}

/** Measures new pods placed amid all that goes on and without it, by turns. */
export async function measureQuiet(
  plane: ControlPlane,
  binder: RunningBinder,
  { version, setting, refused, size, runs }: QuietRun,
): Promise<QuietPair[]> {
  const [amid, alone] = await Promise.all(HALVES.map((name) => startOne(plane, binder, { version, setting, name })));
  const schedulers = { amid, alone } as Scene["schedulers"];
  const reporting = await createReporting(plane);
  const scene: Scene = { plane, binder, schedulers, reporting, bound: await watchBound(plane), placed: REPORTING };
  try {
    reporting.start();
    const { tries, spread, pending: count } = size;
    const waiting = { schedulerName: "amid", count, tries: tries[setting], spread: spread[setting] };
    if (refused) await waitRefused(plane, binder, waiting);
    await reporting.pause();
    const pairs: QuietPair[] = [];
    for (let run = 0; run <= runs; run++) pairs.push(await pairOf(scene, size.pods, run));
    return pairs.slice(1);
  } finally {
    await reporting.pause();
    scene.bound.stop();
    await Promise.all(HALVES.map((half) => end(schedulers[half])));
    await clear(plane, binder);
  }
}

function startOne(
  plane: ControlPlane,
  binder: RunningBinder,
  { version, setting, name }: Pick<QuietRun, "version" | "setting"> & { readonly name: string },
): Promise<Scheduler> {
  const tuned = setting === "tuned";
  return startScheduler(plane, {
    version,
    verbosity: 0,
    flags: tuned ? ["--feature-gates=SchedulerPopFromBackoffQ=false"] : [],
    config: {
      extenders: [allVerbs(binder, "gpushare-scheduler")],
      profiles: profiles([name], { preemption: false }),
      ...(tuned && { podMaxBackoffSeconds: 60 }),
    },
  });
}

/** A frozen process does not hear that it should end. */
async function end({ process, stop }: Scheduler): Promise<void> {
  process.signal("SIGCONT");
  await stop();
}

/** There and back: what grows warmer, or slower, from turn to turn is shared alike. */
async function pairOf(scene: Scene, pods: number, run: number): Promise<QuietPair> {
  const turns: Record<keyof QuietPair, QuietFigures[]> = { amid: [], alone: [] };
  for (const half of ["amid", "alone", "alone", "amid"] as const) {
    const done = turns[half];
    done.push(await turn(scene, half, { pods, name: `${half}-${run}-${done.length}` }));
  }
  return { amid: together(turns.amid), alone: together(turns.alone) };
}

/** Of equally many pods in each turn. */
function together(turns: readonly QuietFigures[]): QuietFigures {
  const mean = (of: (figures: QuietFigures) => number) => turns.reduce((sum, each) => sum + of(each), 0) / turns.length;
  return {
    rate: 1 / mean(({ rate }) => 1 / rate),
    retries: mean(({ retries }) => retries),
    binderMs: mean(({ binderMs }) => binderMs),
  };
}

/** Half as many pods go before those that are measured: until compilers and caches are warm, and who was frozen is up to date. */
async function turn(
  scene: Scene,
  half: keyof QuietPair,
  { pods, name }: { readonly pods: number; readonly name: string },
): Promise<QuietFigures> {
  for (const each of HALVES) scene.schedulers[each].process.signal(each === half ? "SIGCONT" : "SIGSTOP");
  if (half === "amid") scene.reporting.start();
  try {
    const warm = { count: Math.ceil(pods / 2), name: `warm-${name}`, half };
    await place(scene, warm);
    return await figuresOf(scene, pods, () => place(scene, { count: pods, name, half }));
  } finally {
    await scene.reporting.pause();
  }
}

/** Takes all pods away, and waits until the binder has taken back what it had promised them. */
async function clear({ api }: ControlPlane, binder: RunningBinder): Promise<void> {
  await api.removeAll(TYPE);
  const within = 120_000;
  await eventually("all pods are gone", async () => (await api.list(TYPE)).length === 0, { within });
  const free = async () => /^berth_claims_held 0$/m.test((await binder.get("/metrics")).text);
  await eventually("no device is promised any more", free, { within });
}

async function figuresOf({ binder }: Scene, pods: number, work: () => Promise<unknown>): Promise<QuietFigures> {
  const take = async () => ({
    asked: await filtersAsked(binder),
    cpuMs: (await usageOf(binder.process.pid)).cpuMs,
    at: performance.now(),
  });
  const before = await take();
  await work();
  const after = await take();
  const seconds = (after.at - before.at) / 1000;
  return {
    rate: pods / seconds,
    retries: Math.max(0, after.asked - before.asked - pods) / seconds,
    binderMs: (after.cpuMs - before.cpuMs) / pods,
  };
}

/** Watched and not asked for again and again: what a list takes would grow with the pods that wait. */
async function place(
  scene: Scene,
  { count, name, half }: { readonly count: number; readonly name: string; readonly half: keyof QuietPair },
): Promise<void> {
  const pods = Array.from({ length: count }, (_, index) => gpuPod(`${name}-${index}`, 1, { schedulerName: half }));
  scene.placed += count;
  await inParallel(pods, 24, (pod) => scene.plane.api.create(pod));
  await scene.bound.reached(scene.placed);
}
