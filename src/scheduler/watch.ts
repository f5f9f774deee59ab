/**
 * A whole scheduler, as simple as one can be without doing wrong. Watch the pods that name it and have no node; for
 * each, list nodes and pods, decide, bind, tell. docs/from-scratch.md goes through it line by line.
 *
 * It asks the API server for everything it needs each time, so it fits small clusters and understanding. The informer
 * mode (start.ts) decides by the same policy and keeps what it knows.
 */
import { hostname } from "node:os";
import { type Connection, connect, type Query } from "../cluster/connection.ts";
import { type EventRecorder, startEventRecorder } from "../cluster/events.ts";
import { placementPorts } from "../cluster/placement-ports.ts";
import { collectionPath, NODES, PODS, type Resource } from "../cluster/resources.ts";
import { pause, systemTiming } from "../cluster/timing.ts";
import { readEvent, readLines } from "../cluster/watch-stream.ts";
import { createLanes } from "../placement/lanes.ts";
import { placedNode, placedPod } from "../placement/placed.ts";
import { fleetLookup } from "../policy/lookup.ts";
import { field, isObject, type JsonObject } from "../protocol/json.ts";
import { type Bind, bindTo } from "./bind.ts";
import { createChooser } from "./choose.ts";
import { createCluster } from "./cluster.ts";
import { unjudged } from "./needs.ts";
import type { DryDecision, RunningScheduler, SchedulerOptions } from "./options.ts";
import { fullName, isOurs } from "./pods.ts";
import { defaultPolicy, type Loaded } from "./policies.ts";
import { failedSchedulingEvent, scheduledEvent } from "./reasons.ts";

/** Pods that found no node, and whatever a watch has missed, are looked at again so often, in milliseconds. */
const AGAIN_AFTER = 10_000;

/** Devices are promised in ledgers, which this mode does not keep. */
const NO_DEVICES = "node(s) were not asked for devices, which --mode watch does not give: use --mode informer";

/** What the functions below share. */
interface Scheduler extends SchedulerOptions {
  readonly connection: Connection;
  readonly loaded: Loaded;
  readonly events: EventRecorder;
  readonly how: Bind;
  readonly signal: AbortSignal;
  /** With `--dry-run`: hears of decisions instead of their being carried out. */
  readonly tell?: (decision: DryDecision) => void;
}

/** Starts the scheduler in watch mode. Rejects with a sentence for people when the credentials cannot be read. */
export async function startWatching(options: SchedulerOptions): Promise<RunningScheduler> {
  const stopping = new AbortController();
  const scheduler = await prepareScheduler(options, stopping.signal);
  const running = runUntilStopped(scheduler);
  return {
    async stop() {
      stopping.abort();
      await running;
      await scheduler.events.stop();
      await scheduler.connection.close();
    },
  };
}

/** Decides once for each pod that waits now, and writes nothing. */
export async function decideWatched(options: SchedulerOptions, tell: (decision: DryDecision) => void): Promise<void> {
  const scheduler = { ...(await prepareScheduler(options, new AbortController().signal)), tell };
  const { items } = await listAll(scheduler.connection, PODS, waitingFor(options.schedulerName));
  for (const pod of items) await place(scheduler, pod);
  await scheduler.connection.close();
}

async function prepareScheduler(options: SchedulerOptions, signal: AbortSignal): Promise<Scheduler> {
  const { source, schedulerName } = options;
  const connection = await connect(source);
  const loaded = options.loaded ?? (await defaultPolicy(false));
  const identity = `${hostname()}_${crypto.randomUUID()}`;
  const events = startEventRecorder({ connection, controller: schedulerName, instance: identity });
  const ports = placementPorts(connection);
  const context = { ports, clock: systemTiming, newId: () => crypto.randomUUID(), placedPod };
  const contract = { choose: () => ({ refusal: NO_DEVICES }), annotations: () => ({}) };
  const protocol = { context, lanes: createLanes(context), contract };
  return { ...options, connection, loaded, events, how: { protocol, identity }, signal };
}

/** The pods that name this scheduler and have no node, as the API server selects them. */
function waitingFor(schedulerName: string): Query {
  return { fieldSelector: `spec.schedulerName=${schedulerName},spec.nodeName=` };
}

/**
 * List, then watch from there, for as long as the program runs. The list is what a watch alone would miss: pods that
 * were added while no watch was open, pods that found no node the last time, a watch that the server has ended with 410.
 */
async function runUntilStopped(scheduler: Scheduler): Promise<void> {
  const { connection, schedulerName, signal, log } = scheduler;
  while (!signal.aborted) {
    try {
      const { items, version } = await listAll(connection, PODS, waitingFor(schedulerName));
      for (const pod of items) if (!signal.aborted) await place(scheduler, pod);
      await watchFrom(scheduler, version);
    } catch (error) {
      log("warn", "starting again", { problem: error instanceof Error ? error.message : String(error) });
      await pause(systemTiming, 1_000, signal);
    }
  }
}

/** Places every pod that comes, until it is time to list again. */
async function watchFrom(scheduler: Scheduler, version: string): Promise<void> {
  const ending = AbortSignal.any([scheduler.signal, AbortSignal.timeout(AGAIN_AFTER)]);
  try {
    for await (const pod of comingPods(scheduler, version, ending)) if (!ending.aborted) await place(scheduler, pod);
  } catch (error) {
    if (!ending.aborted) throw error;
  }
}

/** ADDED, and MODIFIED too: a pod whose last gate was taken away has been added long ago. */
async function* comingPods({ connection, schedulerName }: Scheduler, resourceVersion: string, signal: AbortSignal) {
  const query = { ...waitingFor(schedulerName), watch: true, resourceVersion };
  const watch = await connection.watch({ path: collectionPath(PODS), query, signal });
  if (watch.kind !== "open") throw new Error(watch.message);
  for await (const lines of readLines(watch.body)) {
    for (const event of lines.map(readEvent)) {
      if (event.kind === "error") throw new Error(event.message);
      if (event.kind === "put") yield event.object;
    }
  }
}

/** Finds a node for one pod, binds it there and says so; or says why there is none. */
async function place(scheduler: Scheduler, object: JsonObject): Promise<void> {
  const { schedulerName, events, how, tell, log } = scheduler;
  const pod = placedPod(object);
  if (!isOurs(pod, schedulerName)) return;
  const choice = await choose(scheduler, object);
  if (tell !== undefined) {
    const name = fullName(pod);
    tell(choice.kind === "node" ? { pod: name, node: choice.node.name } : { pod: name, reason: choice.message });
    return;
  }
  if (choice.kind !== "node") {
    events.record(failedSchedulingEvent(pod, choice.message));
    return;
  }
  const { name } = choice.node;
  const bound = await bindTo(how, pod, { node: choice.node.node, policy: choice.policy });
  if (bound.kind === "bound" && bound.ours) events.record(scheduledEvent(pod, name));
  if (bound.kind === "bound") log("info", "bound", { pod: fullName(pod), node: name });
  else if (!bound.over) events.record(failedSchedulingEvent(pod, `binding rejected: ${bound.message}`));
}

/** The cluster as it is at this moment, and the node that the policy likes best in it. */
async function choose({ connection, loaded, ignored, random }: Scheduler, object: JsonObject) {
  const { policy, facts } = loaded;
  const cluster = createCluster(() => undefined);
  const [nodes, pods] = await Promise.all([
    listAll(connection, NODES),
    listAll(connection, PODS, { fieldSelector: "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed" }),
  ]);
  for (const node of nodes.items) cluster.putNode(placedNode(node, new Set()));
  for (const pod of pods.items) cluster.putPod(placedPod(pod));
  const chooser = createChooser(policy, {
    around: fleetLookup(facts),
    now: Date.now,
    random,
    nodes: cluster.nodes,
    percentage: 100,
    unjudged: (pod) => unjudged(pod, policy, ignored),
    devices: () => ({ generation: 0, devices: {} }),
    barred: (_, pod) =>
      pod.request > 0n ? { plugin: "GpuMemory", reason: NO_DEVICES, unresolvable: true } : undefined,
  });
  return chooser(placedPod(object));
}

/** Everything of a resource that is selected, and the version to watch from. */
async function listAll(connection: Connection, resource: Resource, query: Query = {}) {
  const answer = await connection.call({ method: "GET", path: collectionPath(resource), query, within: 30_000 });
  if (answer.kind !== "ok") throw new Error(answer.message);
  const items = field(answer.object, "items");
  const version = field(field(answer.object, "metadata"), "resourceVersion");
  return { items: Array.isArray(items) ? items.filter(isObject) : [], version: String(version ?? "") };
}
