import { setTimeout as sleep } from "node:timers/promises";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, createGpuNodes, gpuPod, type RunningBinder } from "../e2e/binder.ts";
import { profiles } from "../e2e/scheduling.ts";
import { inParallel } from "./binder-targets.ts";
import { watchBound } from "./bound.ts";
import { usageOf } from "./usage.ts";

/** How many of everything a run has. */
export interface QuietSize {
  readonly nodes: number;
  /** Pods that wait refused, in a noisy run. */
  readonly pending: number;
  /** New pods whose rate is measured. */
  readonly pods: number;
  /** So often each pod that waits has been tried, on average, before anything is measured. */
  readonly tries: Readonly<Record<Setting, number>>;
  /** Over so many seconds they are created: as long as they wait between two tries, so that these do not come at once. */
  readonly spread: Readonly<Record<Setting, number>>;
}

/** How a kube-scheduler is set: as the documentation says, or as it comes. */
export type Setting = "tuned" | "default";

/** What goes on meanwhile: pods' statuses change, or they do and others wait refused. */
export type Around = "reports" | "noisy";

/** What a run is like. */
export interface QuietRun {
  readonly version: string;
  readonly setting: Setting;
  readonly around: Around;
  readonly size: QuietSize;
}

/** What a run gave: with all that goes on, and right after it, with the same kube-scheduler, without. */
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

/** Updates of pods' statuses in a second, as kubelets would write them. */
export const UPDATES_PER_SECOND = 50;

const CARD = 40;
const REPORTING = 20;
const TYPE = { apiVersion: "v1", kind: "Pod", namespace: "default" } as const;

/** Creates the nodes of every run. */
export function createQuietNodes(plane: ControlPlane, { nodes }: QuietSize): Promise<unknown> {
  const names = Array.from({ length: nodes }, (_, index) => `quiet-${index}`);
  return createGpuNodes(plane, names, { count: 2, each: CARD });
}

/** Measures new pods placed by a kube-scheduler of its own, in the noise and at once after it. */
export async function measureQuiet(
  plane: ControlPlane,
  binder: RunningBinder,
  { version, setting, around, size }: QuietRun,
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
    const warm = Math.ceil(size.pods / 10);
    await place(plane, { name: "warm", count: warm, before: 0 });
    const reports = await startReporting(plane);
    const amid = await amidNoise(plane, binder, { setting, around, size, before: warm + REPORTING }).finally(
      reports.stop,
    );
    await clear(plane, binder);
    const alone = { name: "alone", count: size.pods, before: 0 };
    return { amid, alone: await figuresOf(binder, size.pods, () => place(plane, alone)) };
  } finally {
    await scheduler.stop();
    await clear(plane, binder);
  }
}

async function amidNoise(
  plane: ControlPlane,
  binder: RunningBinder,
  { setting, around, size, before }: Omit<QuietRun, "version"> & { readonly before: number },
): Promise<QuietFigures> {
  if (around === "noisy") await waitRefused(plane, binder, { setting, size });
  return figuresOf(binder, size.pods, () => place(plane, { name: "new", count: size.pods, before }));
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

/** How many pods the binder was asked to find nodes for so far. */
async function filtersAsked(binder: RunningBinder): Promise<number> {
  const { text } = await binder.get("/metrics");
  return Number(/^berth_requests_total\{verb="filter",outcome="decided"\} (\d+)$/m.exec(text)?.[1] ?? 0);
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

/** Pods that no device is large enough for, tried until their backoff has grown to what it stays at. */
async function waitRefused(
  { api }: ControlPlane,
  binder: RunningBinder,
  { setting, size: { pending, tries, spread } }: Pick<QuietRun, "setting" | "size">,
): Promise<void> {
  const before = await filtersAsked(binder);
  for (let index = 0; index < pending; index++) {
    await api.create(gpuPod(`pending-${index}`, CARD + 1));
    await sleep((1000 * spread[setting]) / pending);
  }
  const often = async () => (await filtersAsked(binder)) - before >= tries[setting] * pending;
  await eventually("every pod that waits was refused often enough", often, { within: 600_000, every: 500 });
}

/** Pods that run and say so again and again, as kubelets would write it. */
async function startReporting({ api }: ControlPlane): Promise<{ stop(): Promise<void> }> {
  const running = await inParallel(
    Array.from({ length: REPORTING }, (_, index) => buildPod({ name: `reports-${index}`, nodeName: "quiet-0" })),
    24,
    (pod) => api.create<Pod>(pod),
  );
  let update = 0;
  const report = async (): Promise<void> => {
    const pod = running[update++ % running.length] as Pod;
    const message = `update ${update}`;
    await api.patch(pod, { status: { message } }, { subresource: "status" });
  };
  const under = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const one = report().finally(() => under.delete(one));
    under.add(one);
  }, 1000 / UPDATES_PER_SECOND);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(under);
    },
  };
}
