import type { JsonObject } from "../../src/protocol/json.ts";
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

/** The plugins of both, with kube-scheduler's default weights; every other one of kube-scheduler's is off. */
const PLUGINS: readonly JsonObject[] = [
  { name: "NodeName" },
  { name: "NodeUnschedulable" },
  { name: "TaintToleration", weight: 3 },
  { name: "NodeAffinity", weight: 2 },
  { name: "NodePorts" },
  { name: "NodeResourcesFit", weight: 1 },
  { name: "NodeResourcesBalancedAllocation", weight: 1 },
];

/** `berth schedule` in informer mode. */
export const berth: StartArm = async (plane, schedulerName) => {
  const running = await startBerth(plane, {
    name: `berth-${schedulerName}`,
    schedulerName,
    plugins: PLUGINS,
    kubeconfig: await plane.kubeconfig("admin"),
  });
  return { pid: running.process.pid, stop: running.stop };
};

/** kube-scheduler, with `qps: 5000`, the same plugins and the same sampling. */
export const kubeScheduler: StartArm = async (plane, schedulerName) => {
  const own = ["PrioritySort", "SchedulingGates", "DefaultBinder"].map((name) => ({ name }));
  const plugins = { multiPoint: { disabled: [{ name: "*" }], enabled: [...own, ...PLUGINS] } };
  const version = schedulerVersions.at(-1) ?? "";
  return startScheduler(plane, { version, qps: 5_000, config: { profiles: [{ schedulerName, plugins }] } });
};
