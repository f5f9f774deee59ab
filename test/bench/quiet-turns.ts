import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { Scheduler } from "../controlplane/scheduler.ts";
import { gpuPod, type RunningBinder } from "../e2e/binder.ts";
import { inParallel } from "./binder-targets.ts";
import type { BoundWatch } from "./bound.ts";
import { filtersAsked, type Reporting } from "./quiet-noise.ts";
import { mean, rateOf, thereAndBack } from "./turns.ts";
import { usageOf } from "./usage.ts";

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
export interface Scene {
  readonly plane: ControlPlane;
  readonly binder: RunningBinder;
  /** One for the turns with everything, one for those without; whoever has no turn is frozen. */
  readonly schedulers: Readonly<Record<keyof QuietPair, Scheduler>>;
  readonly reporting: Reporting;
  readonly bound: BoundWatch;
  /** Pods that are on a node, or will be. */
  placed: number;
}

/** Both kinds of turns. */
export const HALVES = ["amid", "alone"] as const;

/** One run: turns with everything, and turns without. */
export async function pairOf(scene: Scene, pods: number, run: number): Promise<QuietPair> {
  let begun = 0;
  const [amid, alone] = await thereAndBack(...HALVES, (half) =>
    turn(scene, half, { pods, name: `${half}-${run}-${begun++}` }),
  );
  return { amid: together(amid), alone: together(alone) };
}

function together(turns: readonly QuietFigures[]): QuietFigures {
  return {
    rate: rateOf(turns.map(({ rate }) => rate)),
    retries: mean(turns.map(({ retries }) => retries)),
    binderMs: mean(turns.map(({ binderMs }) => binderMs)),
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

/** Two of each pod: `DeviceAssigned` by the binder, `Scheduled` by kube-scheduler. */
const EVENTS = 2;

/**
 * Over when the last event is written: a kube-scheduler that is fast puts these off, and whoever comes next would pay.
 * Pods are watched and not asked for again and again: what a list takes would grow with the pods that wait.
 */
async function place(
  scene: Scene,
  { count, name, half }: { readonly count: number; readonly name: string; readonly half: keyof QuietPair },
): Promise<void> {
  const { api } = scene.plane;
  const pods = Array.from({ length: count }, (_, index) => gpuPod(`${name}-${index}`, 1, { schedulerName: half }));
  const written = await eventsWritten(scene.plane);
  scene.placed += count;
  await inParallel(pods, 24, (pod) => api.create(pod));
  await scene.bound.reached(scene.placed);
  const all = async () => (await eventsWritten(scene.plane)) >= written + EVENTS * count;
  await eventually("every pod has its events", all, { within: 60_000, every: 20 });
}

/** How many events there are; counted by etcd, so that it costs next to nothing. */
async function eventsWritten({ api }: ControlPlane): Promise<number> {
  const { metadata, items } = await api.request<{
    readonly metadata: { readonly remainingItemCount?: number };
    readonly items: readonly unknown[];
  }>({ method: "GET", path: "/api/v1/namespaces/default/events", query: { limit: 1 } });
  return items.length + (metadata.remainingItemCount ?? 0);
}
