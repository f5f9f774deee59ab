import { type Connection, connect } from "../cluster/connection.ts";
import { apiGroups } from "../cluster/groups.ts";
import { placementPorts } from "../cluster/placement-ports.ts";
import { systemTiming } from "../cluster/timing.ts";
import type { Binder } from "../placement/bind.ts";
import { type FollowedLedgers, followLedgers } from "../placement/followed-ledgers.ts";
import { createLanes } from "../placement/lanes.ts";
import { placedPod } from "../placement/placed.ts";
import { fleetLookup } from "../policy/lookup.ts";
import { type Bell, createBell } from "./bell.ts";
import { type Bound, bindTo } from "./bind.ts";
import { type Caches, startCaches } from "./caches.ts";
import { type Choose, createChooser } from "./choose.ts";
import { type Cluster, createCluster, type KnownNode } from "./cluster.ts";
import { createGpu } from "./gpu.ts";
import { unjudged } from "./needs.ts";
import type { InformerModeOptions } from "./options.ts";
import { fullName } from "./pods.ts";
import { defaultPolicy, type Loaded } from "./policies.ts";
import { createQueue, type Queue } from "./queue.ts";

/** The cluster as it is known, and what decides and binds by it. */
export interface Core {
  readonly connection: Connection;
  readonly loaded: Loaded;
  readonly caches: Caches;
  readonly cluster: Cluster;
  readonly ledgers: FollowedLedgers;
  readonly queue: Queue;
  /** Rung whenever there may be a pod to place. */
  readonly bell: Bell;
  readonly protocol: Binder;
  readonly choose: Choose;
  bind(pod: Parameters<typeof bindTo>[1], node: KnownNode): Promise<Bound>;
}

/** Calls to the API server at a time: binds, the events and conditions about them, and some reads. */
const CALLS_AT_ONCE = 48;

/**
 * Connects, begins to follow the cluster, and joins all that decides.
 *
 * @param identity of this process, different for every start
 */
export async function startCore(options: InformerModeOptions, identity: string): Promise<Core> {
  const { log, extended } = options;
  const connection = await connect(options.source, { connections: CALLS_AT_ONCE });
  const loaded = options.loaded ?? (await defaultPolicy(await servesLedgers(connection)));
  const { policy } = loaded;
  const givesDevices = policy.plugins.some(({ spec }) => spec.name === "GpuMemory");
  const caches = startCaches(connection, { policy, devices: givesDevices, whole: extended !== undefined, log });
  const cluster = createCluster((pod, problem) =>
    log("warn", "a pod's requests cannot be read: it counts as one that takes nothing", {
      pod: fullName(pod),
      problem,
    }),
  );
  const context = {
    ports: placementPorts(connection),
    clock: systemTiming,
    newId: () => crypto.randomUUID(),
    placedPod,
  };
  const lanes = createLanes(context);
  const ledgers = followLedgers((node) => caches.sources.ledgers?.get(node), lanes.peek);
  const gpu = createGpu(cluster, ledgers, Date.now);
  const choose = createChooser(policy, {
    ...gpu,
    around: fleetLookup(loaded.facts),
    now: Date.now,
    nodes: cluster.nodes,
    percentage: options.percentage,
    random: options.random,
    unjudged: (pod) => unjudged(pod, policy, options.ignored),
    ...(extended && { others: extended }),
  });
  const bell = createBell();
  const protocol = { context, lanes, contract: gpu.contract };
  const how = { protocol, identity, policy: `${policy.profile}@${policy.version}` };
  return {
    ...{ connection, loaded, caches, cluster, ledgers, bell, protocol, choose },
    queue: createQueue(systemTiming, bell.ring),
    async bind(pod, { node }) {
      const others = (await extended?.bind(pod.object, node.name)) ?? "none";
      if (others === "none") return bindTo(how, pod, node);
      return others === "bound"
        ? { kind: "bound", ours: true }
        : { kind: "failed", message: others.error, over: false };
    },
  };
}

/** True when the cluster has the resource that holds who was promised which device (infra/crd). */
async function servesLedgers(connection: Connection): Promise<boolean> {
  const groups = await apiGroups(connection);
  if (groups.kind !== "groups") {
    throw new Error(`The API server at ${connection.server} cannot be asked what it serves: ${groups.message}`);
  }
  return groups.versions.has("berth.dev");
}
