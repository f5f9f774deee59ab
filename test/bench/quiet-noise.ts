import { setTimeout as sleep } from "node:timers/promises";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { gpuPod, type RunningBinder } from "../e2e/binder.ts";
import { inParallel } from "./binder-targets.ts";

/** Updates of pods' statuses in a second, as kubelets would write them. */
export const UPDATES_PER_SECOND = 50;

/** What each card of a node has. */
export const CARD = 50;

/** Pods that report their status. */
export const REPORTING = 20;

/** Pods that run and can be made to say so again and again. */
export interface Reporting {
  start(): void;
  /** Resolves when no update is under way any more. */
  pause(): Promise<void>;
}

/** How pods wait. */
export interface Waiting {
  readonly schedulerName: string;
  readonly count: number;
  /** So often each has been tried, on average, before anything is measured. */
  readonly tries: number;
  /** Over so many seconds they are created: as long as they wait between two tries, so that these do not come at once. */
  readonly spread: number;
}

/** How many pods the binder was asked to find nodes for so far. */
export async function filtersAsked(binder: RunningBinder): Promise<number> {
  const { text } = await binder.get("/metrics");
  return Number(/^berth_requests_total\{verb="filter",outcome="decided"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Creates pods that no device is large enough for, and waits until their backoff has grown to what it stays at. */
export async function waitRefused(
  { api }: ControlPlane,
  binder: RunningBinder,
  { schedulerName, count, tries, spread }: Waiting,
): Promise<void> {
  const before = await filtersAsked(binder);
  for (let index = 0; index < count; index++) {
    await api.create(gpuPod(`pending-${index}`, CARD + 1, { schedulerName }));
    await sleep((1000 * spread) / count);
  }
  const often = async () => (await filtersAsked(binder)) - before >= tries * count;
  await eventually("every pod that waits was refused often enough", often, { within: 600_000, every: 500 });
}

/** Creates the pods that report, as kubelets would write it, and lets them be silent until they are started. */
export async function createReporting({ api }: ControlPlane): Promise<Reporting> {
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
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      timer = setInterval(() => {
        const one = report().finally(() => under.delete(one));
        under.add(one);
      }, 1000 / UPDATES_PER_SECOND);
    },
    async pause() {
      clearInterval(timer);
      await Promise.all(under);
    },
  };
}
