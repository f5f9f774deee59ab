import type { PlacedPod } from "../placement/model.ts";
import type { Policy } from "../policy/policy.ts";
import { GPU_MEMORY } from "../policy/views/gpu-request.ts";
import { field, type Json } from "../protocol/json.ts";

/** Something that a pod may insist on, and the plugin that would judge it, by the name it has in kube-scheduler. */
interface Need {
  readonly name: string;
  readonly plugin: string;
  readonly insists: (pod: PlacedPod) => boolean;
}

/** Volumes that only some nodes can mount; the others are made on the node or reached over the network. */
const PLACED_VOLUMES = [
  "persistentVolumeClaim",
  "ephemeral",
  "awsElasticBlockStore",
  "azureDisk",
  "cinder",
  "gcePersistentDisk",
  "iscsi",
  "portworxVolume",
  "rbd",
  "vsphereVolume",
];

/** Preferences are not among them: a pod whose preference nobody weighs is placed, if not as well. */
const IGNORABLE_NEEDS: readonly Need[] = [
  {
    name: "topologySpreadConstraints",
    plugin: "PodTopologySpread",
    insists: (pod) =>
      list(spec(pod, "topologySpreadConstraints")).some((each) => field(each, "whenUnsatisfiable") === "DoNotSchedule"),
  },
  { name: "podAffinity", plugin: "InterPodAffinity", insists: (pod) => requires(pod, "podAffinity") },
  { name: "podAntiAffinity", plugin: "InterPodAffinity", insists: (pod) => requires(pod, "podAntiAffinity") },
  {
    name: "volumes",
    plugin: "VolumeBinding",
    insists: (pod) =>
      list(spec(pod, "volumes")).some((volume) => PLACED_VOLUMES.some((kind) => field(volume, kind) !== undefined)),
  },
  {
    name: "resourceClaims",
    plugin: "DynamicResources",
    insists: (pod) => list(spec(pod, "resourceClaims")).length > 0,
  },
];

/** What `--ignore` takes. */
export const IGNORABLE: readonly string[] = IGNORABLE_NEEDS.map(({ name }) => name);

/** Nothing may ignore that: the device would be given, but on a node that was never asked whether it has one. */
const NEEDS: readonly Need[] = [
  ...IGNORABLE_NEEDS,
  { name: GPU_MEMORY, plugin: "GpuMemory", insists: (pod) => pod.request > 0n || pod.problem !== undefined },
];

/**
 * Why a pod is not placed at all, in a sentence for its event: it insists on something that no plugin of the profile
 * judges. Undefined for a pod that can be judged whole.
 */
export function unjudged(pod: PlacedPod, policy: Policy, ignored: ReadonlySet<string>): string | undefined {
  const judges = new Set(policy.plugins.map(({ spec: { name } }) => name));
  const open = NEEDS.filter(({ name, plugin, insists }) => !ignored.has(name) && !judges.has(plugin) && insists(pod));
  if (open.length === 0) return undefined;
  const names = open.map(({ name }) => name);
  const ignorable = names.filter((name) => IGNORABLE.includes(name));
  const advice = ignorable.length > 0 ? ` (--ignore ${ignorable.join(",")} places such pods as if they did not)` : "";
  return `the pod insists on ${names.join(", ")}, which no plugin of the profile ${policy.profile} judges${advice}`;
}

function requires(pod: PlacedPod, kind: "podAffinity" | "podAntiAffinity"): boolean {
  return list(field(field(spec(pod, "affinity"), kind), "requiredDuringSchedulingIgnoredDuringExecution")).length > 0;
}

function spec({ object }: PlacedPod, key: string): Json | undefined {
  return field(field(object, "spec"), key);
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
