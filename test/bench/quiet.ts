import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { allVerbs, createGpuNodes, gpuPod, type RunningBinder } from "../e2e/binder.ts";
import { profiles } from "../e2e/scheduling.ts";
import { inParallel } from "./binder-targets.ts";

/** How many of everything a run has. */
export interface QuietSize {
  readonly nodes: number;
  /** Pods that wait refused, in a noisy run. */
  readonly pending: number;
  /** New pods whose rate is measured. */
  readonly pods: number;
}

/** How a kube-scheduler is set: as the documentation says, or as it comes. */
export type Setting = "tuned" | "default";

/** The setting of a run, and whether pods wait and others report their status meanwhile. */
export interface QuietRun {
  readonly version: string;
  readonly setting: Setting;
  readonly noisy: boolean;
  readonly size: QuietSize;
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

/** New pods placed per second by a kube-scheduler of its own, in a cluster where it is noisy or not. */
export async function measureQuiet(plane: ControlPlane, binder: RunningBinder, run: QuietRun): Promise<number> {
  const { version, setting, noisy, size } = run;
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
    await place(plane, "warm", Math.ceil(size.pods / 10));
    const noise = noisy ? await makeNoise(plane, size.pending) : undefined;
    try {
      const started = performance.now();
      await place(plane, "new", size.pods);
      return size.pods / ((performance.now() - started) / 1000);
    } finally {
      await noise?.stop();
    }
  } finally {
    await scheduler.stop();
    await plane.api.removeAll(TYPE);
    await eventually("all pods are gone", async () => (await plane.api.list(TYPE)).length === 0);
  }
}

async function place(plane: ControlPlane, name: string, count: number): Promise<void> {
  const pods = Array.from({ length: count }, (_, index) => gpuPod(`${name}-${index}`, 1, { labels: { batch: name } }));
  await inParallel(pods, 24, (pod) => plane.api.create(pod));
  const done = async () => {
    const waiting = await plane.api.list<Pod>({
      ...TYPE,
      labelSelector: `batch=${name}`,
      fieldSelector: "spec.nodeName=",
    });
    return waiting.length === 0;
  };
  await eventually(`${count} pods are placed`, done, { within: 300_000, every: 50 });
}

/** Pods that no device is large enough for, and pods that run and say so again and again. */
async function makeNoise(plane: ControlPlane, pending: number): Promise<{ stop(): Promise<void> }> {
  const { api } = plane;
  const hopeless = Array.from({ length: pending }, (_, index) => gpuPod(`pending-${index}`, CARD + 1));
  await inParallel(hopeless, 24, (pod) => api.create(pod));
  const running = await inParallel(
    Array.from({ length: REPORTING }, (_, index) => buildPod({ name: `reports-${index}`, nodeName: "quiet-0" })),
    24,
    (pod) => api.create<Pod>(pod),
  );
  await eventually(
    "every hopeless pod was refused",
    async () => {
      const pods = await api.list<Pod>({ ...TYPE, fieldSelector: "spec.nodeName=" });
      return pods.every(({ status }) => JSON.stringify(status ?? {}).includes("Unschedulable"));
    },
    { within: 300_000, every: 500 },
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
