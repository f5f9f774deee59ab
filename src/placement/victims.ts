import { field } from "../protocol/json.ts";
import type { MetaPod, MetaVictims, PreemptArgs } from "../protocol/preempt.ts";
import { byImportance, type Candidate, candidatesOn, compareCosts, costOf, violationsOf } from "./candidate.ts";
import type { DisruptionBudget } from "./disruption.ts";
import type { PlacedPod } from "./model.ts";
import { placedPod } from "./placed.ts";
import { cheapestItems, freeingByAsking, freeingBySum, type Item } from "./victim-search.ts";

/** The cluster as it is now. */
export interface Scene {
  /** The pods bound to a node, in any phase; undefined for a node that is not known. */
  pods(node: string): readonly PlacedPod[] | undefined;
  readonly budgets: readonly DisruptionBudget[];
  /** The profile's filter, asked about the node as it would be without some pods, by UID. */
  fits(node: string, without: ReadonlySet<string>): boolean;
  /**
   * For each device of a node, what each pod's going gives back of it, by UID. Then the victims are those of one
   * device; without it, they are what is left when the more important ones are spared one by one.
   */
  devices?(node: string): readonly ReadonlyMap<string, bigint>[];
  /**
   * True when the node is sure to have what kube-scheduler's own plugins ask once some pods are gone. Then also
   * kube-scheduler's own victims can be spared; without it, they never are.
   */
  room?(node: string, without: ReadonlySet<string>): boolean;
}

/** Sets of victims to look at in one call, over all nodes: about a second. */
const STEPS = 40_000;

/**
 * Chooses the victims of each node that can be helped: those that kube-scheduler has chosen, which freed the node's
 * totals, and the cheapest (see `Cost`) that are needed beyond for the filter to keep the node; each in falling order
 * of importance.
 *
 * Left out is a node that is not known, that evicting every pod of lower priority would not help, or that needs no
 * victim at all. A pod that is not on its node, is in a terminal phase, or has the same or a higher priority is never
 * named, whoever chose it. A pod with `preemptionPolicy: Never` evicts nobody.
 */
export function chooseVictims({ pod: object, victims }: PreemptArgs, scene: Scene): ReadonlyMap<string, MetaVictims> {
  const chosen = new Map<string, MetaVictims>();
  const pod = placedPod(object);
  if (field(field(object, "spec"), "preemptionPolicy") === "Never") return chosen;
  const steps = Math.ceil(STEPS / Math.max(1, victims.size));
  const allowed = scene.budgets.map((budget) => budget.allowed);
  for (const [node, own] of victims) {
    const pods = (scene.pods(node) ?? []).filter(({ nodeName }) => nodeName === node);
    const candidates = candidatesOn(pods, pod, scene.budgets);
    const found = victimsOn({ node, candidates, own: new Set(own), scene, allowed, steps });
    const answer = toAnswer(found, allowed);
    if (answer) chosen.set(node, answer);
  }
  return chosen;
}

interface Case {
  readonly node: string;
  /** The most important first. */
  readonly candidates: readonly Candidate[];
  /** UIDs of kube-scheduler's own victims. */
  readonly own: ReadonlySet<string>;
  readonly scene: Scene;
  readonly allowed: readonly number[];
  readonly steps: number;
}

type Victims = readonly Candidate[];

function victimsOn(one: Case): Victims {
  const { candidates } = one;
  const own = candidates.filter(({ uid }) => one.own.has(uid));
  if (fits(one, own)) return own;
  if (!fits(one, candidates)) return [];
  const ofOneDevice = [own, ...(one.scene.room ? [[]] : [])].flatMap((going) => victimsOfDevices(one, going));
  const sets = ofOneDevice.map((set) => [...new Set([...own, ...set])]).filter((set) => fits(one, set));
  const spared = (sets.length > 0 ? sets : [candidates]).map((set) => spare(one, set));
  return spared.reduce((best, set) =>
    compareCosts(costOf(set, one.allowed), costOf(best, one.allowed)) < 0 ? set : best,
  );
}

function fits({ node, scene }: Case, without: Victims): boolean {
  return scene.fits(node, uidsOf(without));
}

/** For each device that is cheaper to free than those before it, the victims that do; some candidates go in any case. */
function victimsOfDevices(one: Case, going: Victims): Victims[] {
  const groups = one.scene.devices?.(one.node) ?? [];
  const found: Victims[] = [];
  let bound: ReturnType<typeof costOf> | undefined;
  for (const group of groups) {
    const holding = one.candidates.filter(({ uid }) => (group.get(uid) ?? 0n) > 0n);
    const gone = [...new Set([...going, ...holding.filter(({ leaving }) => leaving)])];
    const items = holding
      .filter((each) => !gone.includes(each))
      .map((each): Item => ({ ...each, amount: group.get(each.uid) ?? 0n }));
    const shared = holding.some(({ uid }) => groups.some((other) => other !== group && other.has(uid)));
    const asked = (chosen: readonly Item[]) => fits(one, [...gone, ...chosen]);
    if (asked([])) return [...found, gone];
    const cheapest = cheapestItems(
      {
        going: gone,
        items: costliestFirst(items, one.allowed),
        allowed: one.allowed,
        freeing: shared ? freeingByAsking(asked) : freeingBySum(asked),
        steps: Math.ceil(one.steps / groups.length),
      },
      bound,
    );
    if (cheapest) found.push([...gone, ...cheapest.chosen.map(({ uid }) => candidateOf(one, uid))]);
    bound = cheapest?.cost ?? bound;
  }
  return found;
}

/** Gives back every pod that is not needed, the costliest first. */
function spare(one: Case, victims: Victims): Victims {
  let kept = costliestFirst(victims, one.allowed);
  for (const victim of kept) {
    const fewer = kept.filter((other) => other !== victim);
    if (isSufficient(one, fewer)) kept = fewer;
  }
  return kept;
}

/** True when the filter keeps the node without these, and kube-scheduler's own plugins do so too. */
function isSufficient(one: Case, victims: Victims): boolean {
  const uids = uidsOf(victims);
  const own = one.candidates.filter(({ uid }) => one.own.has(uid));
  if (!own.every(({ uid }) => uids.has(uid)) && one.scene.room?.(one.node, uids) !== true) return false;
  return one.scene.fits(one.node, uids);
}

/**
 * Those first whose eviction would violate a budget if all went, then the more important: kube-scheduler's order. Last
 * those that are terminating already.
 */
function costliestFirst<C extends Candidate>(candidates: readonly C[], allowed: readonly number[]): readonly C[] {
  const ordered = [...candidates].sort(byImportance);
  const violates = (index: number) =>
    violationsOf(ordered.slice(0, index + 1), allowed) > violationsOf(ordered.slice(0, index), allowed);
  const violating = ordered.filter((_, index) => violates(index));
  const others = ordered.filter((each) => !violating.includes(each));
  return [...violating, ...others.filter((each) => !each.leaving), ...others.filter((each) => each.leaving)];
}

function candidateOf(one: Case, uid: string): Candidate {
  return one.candidates.find((each) => each.uid === uid) as Candidate;
}

function uidsOf(victims: Victims): ReadonlySet<string> {
  return new Set(victims.map(({ uid }) => uid));
}

function toAnswer(victims: Victims, allowed: readonly number[]): MetaVictims | undefined {
  const [first, ...others] = [...victims].sort(byImportance).map(({ uid }): MetaPod => ({ UID: uid }));
  return first && { Pods: [first, ...others], NumPDBViolations: violationsOf(victims, allowed) };
}
