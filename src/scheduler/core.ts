import { type Connection, connect } from "../cluster/connection.ts";
import { apiGroups } from "../cluster/groups.ts";
import { placementPorts } from "../cluster/placement-ports.ts";
import { systemTiming } from "../cluster/timing.ts";
import type { Binder } from "../placement/bind.ts";
import { type FollowedLedgers, followLedgers } from "../placement/followed-ledgers.ts";
import { createLanes } from "../placement/lanes.ts";
import type { PlacedPod } from "../placement/model.ts";
import { placedPod } from "../placement/placed.ts";
import { fleetLookup } from "../policy/lookup.ts";
import { type Policy, viewsOf } from "../policy/policy.ts";
import { everyView } from "../policy/view-table.ts";
import { GPU_MEMORY } from "../policy/views/gpu-request.ts";
import { type Bell, createBell } from "./bell.ts";
import { type Bound, bindTo } from "./bind.ts";
import { type Caches, startCaches } from "./caches.ts";
import { type Choice, type Choose, createChooser } from "./choose.ts";
import { type Cluster, createCluster } from "./cluster.ts";
import { fixed, type Governing, governedByFunction, type Ruling } from "./governing.ts";
import { createGpu } from "./gpu.ts";
import { unjudged } from "./needs.ts";
import type { InformerModeOptions } from "./options.ts";
import { fullName } from "./pods.ts";
import { defaultPolicy, type Loaded } from "./policies.ts";
import { createQueue, type Queue } from "./queue.ts";

/** The cluster as it is known, and what decides and binds by it. */
export interface Core {
  readonly connection: Connection;
  readonly governing: Governing;
  readonly caches: Caches;
  readonly cluster: Cluster;
  readonly ledgers: FollowedLedgers;
  readonly queue: Queue;
  /** Rung whenever there may be a pod to place. */
  readonly bell: Bell;
  readonly protocol: Binder;
  readonly choose: Choose;
  /** @param leaving aborted when nobody waits for what came of it any more */
  bind(
    pod: PlacedPod,
    choice: Pick<Extract<Choice, { readonly kind: "node" }>, "node" | "policy">,
    leaving: AbortSignal,
  ): Promise<Bound>;
}

/** Calls to the API server at a time: binds, the events and conditions about them, and some reads. */
const CALLS_AT_ONCE = 48;

/**
 * Connects, begins to follow the cluster, and joins all that decides. Whoever rejects leaves nothing running.
 *
 * @param identity of this process, different for every start
 */
export async function startCore(options: InformerModeOptions, identity: string): Promise<Core> {
  const connection = await connect(options.source, { connections: CALLS_AT_ONCE });
  let governing: FromWhere | undefined;
  try {
    governing = await governingOf(options, connection);
    const policy = governing.fixed?.policy;
    const devices = policy === undefined ? await servesLedgers(connection) : givesDevices(policy);
    return joined(options, { connection, governing, devices, identity });
  } catch (error) {
    await governing?.stop();
    await connection.close();
    throw error;
  }
}

interface Begun {
  readonly connection: Connection;
  readonly governing: FromWhere;
  readonly devices: boolean;
  readonly identity: string;
}

function joined(options: InformerModeOptions, { connection, governing, devices, identity }: Begun): Core {
  const { log, extended } = options;
  const policy = governing.fixed?.policy;
  const views = policy === undefined ? everyView() : viewsOf(policy);
  const caches = startCaches(connection, { views, devices, whole: extended !== undefined, log });
  const cluster = createCluster((pod, problem) =>
    log("warn", "a pod's requests cannot be read: it counts as one that takes nothing", {
      pod: fullName(pod),
      problem,
    }),
  );
  const context = { ports: placementPorts(connection), clock: systemTiming, newId: randomId, placedPod };
  const lanes = createLanes(context);
  const ledgers = followLedgers((node) => caches.sources.ledgers?.get(node), lanes.peek);
  const gpu = createGpu(cluster, ledgers, Date.now);
  const bell = createBell();
  const protocol = { context, lanes, contract: gpu.contract };
  return {
    ...{ connection, governing, caches, cluster, ledgers, bell, protocol },
    choose: chooseBy(governing, { options, cluster, gpu }),
    queue: createQueue(systemTiming, bell.ring),
    async bind(pod, { node: { node }, policy }, leaving) {
      const others = (await extended?.bind(pod.object, node.name)) ?? "none";
      if (others === "none") return bindTo({ protocol, identity, leaving }, pod, { node, policy });
      return others === "bound"
        ? { kind: "bound", ours: true }
        : { kind: "failed", message: others.error, over: false };
    },
  };
}

function randomId(): string {
  return crypto.randomUUID();
}

function givesDevices(policy: Policy): boolean {
  return policy.plugins.some(({ spec }) => spec.name === "GpuMemory");
}

type FromWhere = Governing & { readonly fixed?: Loaded };

async function governingOf(options: InformerModeOptions, connection: Connection): Promise<FromWhere> {
  if (options.function !== undefined) return governedByFunction(options.function, options.log);
  const loaded = options.loaded ?? (await defaultPolicy(await servesLedgers(connection)));
  return { ...fixed(loaded), fixed: loaded };
}

/** Chooses by the policy that is in force when a pod's turn comes, and by no other until it is decided. */
function chooseBy(
  governing: Governing,
  {
    options,
    cluster,
    gpu,
  }: { readonly options: InformerModeOptions; readonly cluster: Cluster; readonly gpu: ReturnType<typeof createGpu> },
): Choose {
  const { extended, percentage, random } = options;
  // Extenders of old give devices too; what none of them binds is bound with a device or not at all.
  const ignored = extended ? new Set([...options.ignored, GPU_MEMORY]) : options.ignored;
  const objects = () => cluster.nodes().map(({ node }) => node.object);
  const chooserOf = ({ policy, facts, far }: Ruling): Choose =>
    createChooser(policy, {
      ...{ ...gpu, percentage, random, nodes: cluster.nodes, now: Date.now, around: fleetLookup(facts) },
      unjudged: (pod) => unjudged(pod, policy, ignored),
      ...(extended && { others: extended }),
      ...(far && { withRows: (pod) => far.withRows(pod, objects) }),
    });
  let last: { readonly ruling: Ruling; readonly choose: Choose } | undefined;
  return async (pod) => {
    const ruling = governing.current();
    if (ruling === undefined) return { kind: "fault", message: "the function has not given its policy yet" };
    if (last?.ruling !== ruling) last = { ruling, choose: chooserOf(ruling) };
    return last.choose(pod);
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
