import { setTimeout as sleep } from "node:timers/promises";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { gpuPod, type RunningBinder } from "../e2e/binder.ts";
import { inParallel } from "./binder-targets.ts";

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

/** Updates of pods' statuses in a second, as kubelets would write them. */
export const UPDATES_PER_SECOND = 50;

/** What each card of a node has. */
export const CARD = 40;
/** Pods that report their status. */
export const REPORTING = 20;
/** How many pods the binder was asked to find nodes for so far. */
export async function filtersAsked(binder: RunningBinder): Promise<number> {
  const { text } = await binder.get("/metrics");
  return Number(/^berth_requests_total\{verb="filter",outcome="decided"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Pods that no device is large enough for, tried until their backoff has grown to what it stays at. */
export async function waitRefused(
  { api }: ControlPlane,
  binder: RunningBinder,
  { setting, size: { pending, tries, spread } }: { readonly setting: Setting; readonly size: QuietSize },
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
export async function startReporting({ api }: ControlPlane): Promise<{ stop(): Promise<void> }> {
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
