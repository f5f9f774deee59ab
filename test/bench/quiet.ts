import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { type Scheduler, startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, createGpuNodes, type RunningBinder } from "../e2e/binder.ts";
import { profiles } from "../e2e/scheduling.ts";
import { watchBound } from "./bound.ts";
import { removePods } from "./pods-gone.ts";
import { CARD, createReporting, REPORTING, waitRefused } from "./quiet-noise.ts";
import { HALVES, pairOf, type QuietPair, type Scene } from "./quiet-turns.ts";

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

/** Takes all pods away, and waits until the binder has taken back what it had promised them. */
async function clear({ api }: ControlPlane, binder: RunningBinder): Promise<void> {
  await removePods(api);
  const free = async () => /^berth_claims_held 0$/m.test((await binder.get("/metrics")).text);
  await eventually("no device is promised any more", free, { within: 120_000 });
}
