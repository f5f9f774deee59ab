import { learnBehaviour } from "./behaviour.ts";
import { createHope } from "./hope.ts";
import { createInterned, once } from "./interned.ts";
import { doubleAssignment, uncoveredPod } from "./invariants.ts";
import { createKeys } from "./keys.ts";
import { countPaths } from "./paths.ts";
import type { Mutant } from "./process.ts";
import { firstState, type Machine, type Scenario, type State, steps } from "./system.ts";
import type { World } from "./world.ts";

/** What an exploration has found. */
export interface Explored {
  /** Different states of the whole system. */
  readonly states: number;
  /** Steps from one of them to another: each pair of neighbours on any interleaving was taken once. */
  readonly steps: number;
  /** Different states from which the way to a clean ledger was walked. */
  readonly cleaned: number;
  /** Histories of a binder that were run on the real code. */
  readonly histories: number;
  /** Different orders in which all of it can happen, from the first state to one where nothing more can. */
  readonly interleavings: bigint;
  /** All answers that any operation has ever come to. */
  readonly results: readonly string[];
  readonly violation?: { readonly what: string; readonly trail: readonly string[] };
}

/** A faulty protocol, and what is looked for in it. */
export interface Faulty {
  readonly mutant: Mutant;
  /** "double": only two pods on one device count, not what leads to it. */
  readonly expect?: "double" | "anything";
}

interface Reached {
  readonly id: number;
  readonly state: State;
  readonly label: string;
  readonly from?: Reached;
}

/** Visits every state that can be reached, depth first, and stops at the first that must not be. */
export async function explore(scenario: Scenario, faulty?: Faulty): Promise<Explored> {
  const { mutant, expect = "anything" } = faulty ?? {};
  const interned = createInterned();
  const losses = (scenario.incidents ?? []).some(({ loss }) => loss);
  const machine: Machine = { interned, behaviour: learnBehaviour({ interned, mutant, losses }) };
  const hope = createHope(scenario, machine);
  const strict = expect === "anything";
  const wrongIn = once((world: World) => doubleAssignment(world) ?? (strict ? uncoveredPod(world) : undefined));
  const frontier = createFrontier(scenario, machine);
  const results = new Set<string>();
  let what: string | undefined;
  let at = frontier.next();
  while (at !== undefined) {
    for (const result of resultsIn(at.state)) results.add(result);
    what = wrongIn(at.state.world) ?? (strict ? await hope.lostAt(at.state) : undefined);
    if (what !== undefined) break;
    await frontier.expand(at);
    at = frontier.next();
  }
  return {
    ...frontier.counts(),
    cleaned: hope.walked(),
    histories: machine.behaviour.moments(),
    results: Array.from(results).sort(),
    ...(what === undefined ? {} : { violation: { what, trail: trailOf(at) } }),
  };
}

function resultsIn({ binders }: State): readonly string[] {
  return Object.values(binders).flatMap(({ moment }) => moment.view.results);
}

/** The states that were reached and not yet visited, the newest first. */
function createFrontier(scenario: Scenario, machine: Machine) {
  const keyOf = createKeys(scenario, machine.interned);
  const first: Reached = { id: 0, state: firstState(scenario, machine), label: "start" };
  const reached = new Map([[keyOf(first.state), first.id]]);
  const stack: Reached[] = [first];
  const edges: number[][] = [];
  return {
    next: () => stack.pop(),
    async expand(from: Reached) {
      const successors: number[] = [];
      for (const { label, take } of steps(scenario, machine, from.state)) {
        const made = take();
        const state = made instanceof Promise ? await made : made;
        const key = keyOf(state);
        const id = reached.get(key) ?? reached.size;
        if (id === reached.size) stack.push({ id, state, label, from });
        reached.set(key, id);
        successors.push(id);
      }
      edges[from.id] = successors;
    },
    counts: () => ({
      states: reached.size,
      steps: edges.reduce((sum, successors) => sum + successors.length, 0),
      interleavings: countPaths(edges),
    }),
  };
}

function trailOf(reached: Reached | undefined): string[] {
  const trail: string[] = [];
  for (let at = reached; at !== undefined; at = at.from) trail.unshift(at.label);
  return trail;
}
