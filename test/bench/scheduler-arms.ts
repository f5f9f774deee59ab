import { DEFAULT_PLUGINS } from "../../src/scheduler/policies.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { schedulerVersions } from "../controlplane/programs.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { startBerth } from "../e2e/scheduler.ts";

/** A scheduler under measurement. */
export interface Arm {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a scheduler under the name that pods give. */
export type StartArm = (plane: ControlPlane, schedulerName: string) => Promise<Arm>;

/** `berth schedule` in informer mode, with its default plugins. */
export const berth: StartArm = async (plane, schedulerName) => {
  const running = await startBerth(plane, {
    name: `berth-${schedulerName}`,
    schedulerName,
    plugins: DEFAULT_PLUGINS.map((plugin) => ({ ...plugin })),
    kubeconfig: await plane.kubeconfig("admin"),
  });
  return { pid: running.process.pid, stop: running.stop };
};

/** kube-scheduler, with `qps: 5000` and the same sampling; every plugin of its own that is not among those is off. */
export const kubeScheduler: StartArm = async (plane, schedulerName) => {
  const own = ["PrioritySort", "SchedulingGates", "DefaultBinder"].map((name) => ({ name }));
  const plugins = { multiPoint: { disabled: [{ name: "*" }], enabled: [...own, ...DEFAULT_PLUGINS] } };
  const version = schedulerVersions.at(-1) ?? "";
  return startScheduler(plane, { version, qps: 5_000, config: { profiles: [{ schedulerName, plugins }] } });
};
