import type { Victims } from "../extender/cluster-verbs.ts";
import { heldByDevice } from "../placement/holdings.ts";
import type { Claim, PlacedPod } from "../placement/model.ts";
import { placedPod } from "../placement/placed.ts";
import { roomFor } from "../placement/room.ts";
import { chooseVictims, type Scene } from "../placement/victims.ts";
import { objectLookup } from "../policy/lookup.ts";
import { PluginError, prepare } from "../policy/run.ts";
import type { PreemptArgs } from "../protocol/preempt.ts";
import { barredBy } from "./decider.ts";
import { type LivePolicy, liveNode, policyFor } from "./live.ts";

/** How long a victim that kube-scheduler has chosen may still become known, in milliseconds. */
const NEW_VICTIM_MS = 500;

/**
 * Chooses victims so that the profile's own filter keeps the node once they are gone. kube-scheduler may have heard of
 * a victim before the binder has: without it the node would seem to need no victim, and the pod would wait for minutes.
 */
export async function preemptLive(live: LivePolicy, args: PreemptArgs): Promise<Victims> {
  await live.state.pods.placed([...args.victims.values()].flat(), NEW_VICTIM_MS);
  const policy = await policyFor(live, args.pod, () => [...args.victims.keys()].map(live.state.nodes.get));
  try {
    const cycle = prepare(policy, objectLookup(args.pod, live.now()), live.around);
    // A pod that cannot be judged gets no node, whoever is evicted.
    if ("unreadable" in cycle) return { victims: new Map() };
    return { victims: chooseVictims(args, sceneOf(live, placedPod(args.pod), cycle)) };
  } catch (error) {
    if (error instanceof PluginError) return { error: error.message };
    throw error;
  }
}

function sceneOf(
  live: LivePolicy,
  pod: PlacedPod,
  cycle: { filter(node: ReturnType<typeof liveNode>): unknown },
): Scene {
  const { state } = live;
  const asks = { for: { uid: pod.uid, priority: pod.priority } };
  const rooms = new Map<string, ReturnType<typeof roomFor>>();
  const roomOn = (name: string) => {
    const node = state.nodes.get(name);
    if (node === undefined) return () => false;
    const neighbours = { bound: state.pods.on(name), nominated: state.pods.nominatedTo(name) };
    const room = rooms.get(name) ?? roomFor(pod, node, neighbours);
    rooms.set(name, room);
    return room;
  };
  // No eviction opens a ledger.
  const barred = (name: string) => pod.request > 0n && barredBy(state, name, live.now()) !== undefined;
  return {
    budgets: state.budgets(),
    pods: (name) => (state.nodes.get(name) === undefined ? undefined : state.pods.on(name)),
    fits: (name, without) => {
      const node = state.nodes.get(name);
      return (
        node !== undefined &&
        !barred(name) &&
        cycle.filter(liveNode(live, node, { ...asks, without }, lasting(live, name))) === undefined
      );
    },
    room: (name, without) => roomOn(name)(without),
    ...(judgesDevices(live, pod) && {
      devices: (name: string) => {
        const node = state.nodes.get(name);
        return node === undefined ? [] : heldByDevice(node, state.usage(node, asks, lasting(live, name)));
      },
    }),
  };
}

/**
 * The claims but for those whose pod is not there any more: they are about to go, and nobody needs to be evicted around
 * them. kube-scheduler can ask again the moment its victims are deleted, before their claims are taken away.
 */
function lasting({ state }: LivePolicy, node: string): readonly Claim[] {
  return (state.ledger(node)?.claims ?? []).filter(({ podUid }) => state.pods.byUid(podUid) !== undefined);
}

function judgesDevices({ policy }: LivePolicy, pod: PlacedPod): boolean {
  return pod.request > 0n && policy.plugins.some(({ spec }) => spec.name === "GpuMemory");
}
