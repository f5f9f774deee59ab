import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, createGpuNodes, gpuPod, type RunningBinder } from "../e2e/binder.ts";
import { profiles } from "../e2e/scheduling.ts";
import { inParallel } from "./binder-targets.ts";
import { watchBound } from "./bound.ts";
import {
  CARD,
  filtersAsked,
  type QuietSize,
  REPORTING,
  type Setting,
  startReporting,
  waitRefused,
} from "./quiet-noise.ts";
import { usageOf } from "./usage.ts";

/** What goes on meanwhile: pods' statuses change, or they do and others wait refused. */
export type Around = "reports" | "noisy";

/** What a run is like. */
export interface QuietRun {
  readonly version: string;
  readonly setting: Setting;
  readonly around: Around;
  readonly size: QuietSize;
  /** Which half of the pair is measured first: whoever comes second meets warmer programs. */
  readonly first: keyof QuietPair;
}

/** What a run gave: with all that goes on, and with the same kube-scheduler, without. */
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

const TYPE = { apiVersion: "v1", kind: "Pod", namespace: "default" } as const;

/** Creates the nodes of every run. */
export function createQuietNodes(plane: ControlPlane, { nodes }: QuietSize): Promise<unknown> {
  const names = Array.from({ length: nodes }, (_, index) => `quiet-${index}`);
  return createGpuNodes(plane, names, { count: 2, each: CARD });
}

/** Measures new pods placed by a kube-scheduler of its own, in the noise and without it. */
export async function measureQuiet(
  plane: ControlPlane,
  binder: RunningBinder,
  { version, setting, around, size, first }: QuietRun,
): Promise<QuietPair> {
  const tuned = setting === "tuned";
  const scheduler = await startScheduler(plane, {
    version,
    verbosity: 0,
    flags: tuned ? ["--feature-gates=SchedulerPopFromBackoffQ=false"] : [],
    config: {
      extenders: [allVerbs(binder, "gpushare-scheduler")],
      profiles: profiles(["default-scheduler"], { preemption: false }),
      ...(tuned && { podMaxBackoffSeconds: 60 }),
    },
  });
  try {
    const amid = () => amidNoise(plane, binder, { setting, around, size });
    const alone = () => placed(plane, binder, { pods: size.pods, before: 0 });
    const figures = await (first === "amid" ? amid() : alone());
    await clear(plane, binder);
    return first === "amid" ? { amid: figures, alone: await alone() } : { alone: figures, amid: await amid() };
  } finally {
    await scheduler.stop();
    await clear(plane, binder);
  }
}

async function amidNoise(
  plane: ControlPlane,
  binder: RunningBinder,
  { setting, around, size }: Pick<QuietRun, "setting" | "around" | "size">,
): Promise<QuietFigures> {
  const reports = await startReporting(plane);
  try {
    if (around === "noisy") await waitRefused(plane, binder, { setting, size });
    return await placed(plane, binder, { pods: size.pods, before: REPORTING });
  } finally {
    await reports.stop();
  }
}

/** The first half as many pods as are measured are for compilers and caches: after a wait these are cold. */
async function placed(
  plane: ControlPlane,
  binder: RunningBinder,
  { pods, before }: { readonly pods: number; readonly before: number },
): Promise<QuietFigures> {
  const warm = Math.ceil(pods / 2);
  await place(plane, { name: "warm", count: warm, before });
  return figuresOf(binder, pods, () => place(plane, { name: "new", count: pods, before: before + warm }));
}

/** Takes all pods away, and waits until the binder has taken back what it had promised them. */
async function clear({ api }: ControlPlane, binder: RunningBinder): Promise<void> {
  await api.removeAll(TYPE);
  const within = 120_000;
  await eventually("all pods are gone", async () => (await api.list(TYPE)).length === 0, { within });
  const free = async () => /^berth_claims_held 0$/m.test((await binder.get("/metrics")).text);
  await eventually("no device is promised any more", free, { within });
}

async function figuresOf(binder: RunningBinder, pods: number, work: () => Promise<unknown>): Promise<QuietFigures> {
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
  plane: ControlPlane,
  { name, count, before }: { readonly name: string; readonly count: number; readonly before: number },
): Promise<void> {
  const bound = await watchBound(plane);
  try {
    const pods = Array.from({ length: count }, (_, index) => gpuPod(`${name}-${index}`, 1));
    await inParallel(pods, 24, (pod) => plane.api.create(pod));
    await bound.reached(before + count);
  } finally {
    bound.stop();
  }
}
