import { type Candidate, type Cost, compareCosts, costOf, FROM_LOWEST } from "./candidate.ts";

/** A candidate that holds some of the device in question. */
export interface Item extends Candidate {
  /** What its going gives back, more than 0. */
  readonly amount: bigint;
}

/** Tells when a device is free enough. More items never make it less so. */
export interface Freeing {
  enough(chosen: readonly Item[]): boolean;
  /** What the items at least lack, when they are not enough. */
  missing(chosen: readonly Item[]): bigint;
}

/** One device to be freed. */
export interface Search {
  /** Candidates that go in any case. */
  readonly going: readonly Candidate[];
  /** The others that hold some of the device, the costliest first; none of them is terminating. */
  readonly items: readonly Item[];
  /** What each budget allows. */
  readonly allowed: readonly number[];
  readonly freeing: Freeing;
  /** Sets to look at before it settles for the cheapest so far. */
  readonly steps: number;
}

/** Some of the items, and what they cost together with those that go in any case. */
export interface Found {
  readonly chosen: readonly Item[];
  readonly cost: Cost;
}

interface State extends Search {
  readonly rest: readonly Rest[];
  /** False when budgets overlap: then a further victim can lower the number of violations. */
  readonly monotone: boolean;
  taken: number;
  /** Only what is cheaper is of interest. */
  bound: Cost | undefined;
  found: Found | undefined;
}

/** Of the items from an index on. */
interface Rest {
  readonly lowest: number;
  readonly largest: bigint;
}

/**
 * The cheapest items that free the device, each of them needed; undefined when there are none cheaper than `bound`.
 *
 * Branch and bound: items are decided on from the costliest to the cheapest, and spared first, so that the first set
 * found is what kube-scheduler's own reprieve would leave. A branch ends when what is left cannot free the device any
 * more, or cannot be cheaper than the best. Exact within `steps` sets; beyond, it is the cheapest of those seen.
 */
export function cheapestItems(search: Search, bound: Cost | undefined): Found | undefined {
  const { items, going, freeing } = search;
  const state: State = {
    ...search,
    rest: restOf(items),
    monotone: [...items, ...going].every(({ budgets }) => budgets.length <= 1),
    taken: 0,
    bound,
    found: undefined,
  };
  if (freeing.enough(items)) visit(state, 0, []);
  return state.found;
}

/** Decides on the item at an index; what was chosen before it is not enough, but is so together with all that follow. */
function visit(state: State, index: number, chosen: readonly Item[]): void {
  const { items, freeing } = state;
  const item = items[index];
  if (item === undefined || !isPromising(state, index, chosen)) return;
  if (freeing.enough([...chosen, ...items.slice(index + 1)])) visit(state, index + 1, chosen);
  const more = [...chosen, item];
  if (!freeing.enough(more)) visit(state, index + 1, more);
  else if (more.every((each) => !freeing.enough(more.filter((other) => other !== each)))) record(state, more);
}

/** False when no set that goes on so can be cheaper than the best: it needs some of the remaining items at least. */
function isPromising(state: State, index: number, chosen: readonly Item[]): boolean {
  const rest = state.rest[index];
  if (state.bound === undefined || rest === undefined) return true;
  if (state.taken++ >= state.steps) return false;
  const { violations, highest, sum, pods, started } = costOf([...state.going, ...chosen], state.allowed);
  const missing = state.freeing.missing(chosen);
  const needed = Number((missing + rest.largest - 1n) / rest.largest);
  const least: Cost = {
    violations: state.monotone ? violations : 0,
    highest: Math.max(highest, rest.lowest),
    sum: sum + needed * (rest.lowest + FROM_LOWEST),
    pods: pods + needed,
    started: highest >= rest.lowest ? started : Number.POSITIVE_INFINITY,
  };
  return compareCosts(least, state.bound) < 0;
}

function record(state: State, chosen: readonly Item[]): void {
  const cost = costOf([...state.going, ...chosen], state.allowed);
  if (state.bound !== undefined && compareCosts(cost, state.bound) >= 0) return;
  state.bound = cost;
  state.found = { chosen, cost };
}

function restOf(items: readonly Item[]): readonly Rest[] {
  const rest: Rest[] = [];
  let lowest = Number.POSITIVE_INFINITY;
  let largest = 0n;
  for (const { amount, priority } of [...items].reverse()) {
    lowest = Math.min(lowest, priority);
    if (amount > largest) largest = amount;
    rest.unshift({ lowest, largest });
  }
  return rest;
}

/**
 * For a device whose items hold nothing of any other: whether they free it depends on the sum of what they give back,
 * so asking about a few sums answers for all.
 */
export function freeingBySum(fits: (chosen: readonly Item[]) => boolean): Freeing {
  let short = -1n;
  let ample: bigint | undefined;
  return {
    enough: (chosen) => {
      const sum = sumOf(chosen);
      if (sum <= short) return false;
      if (ample !== undefined && sum >= ample) return true;
      if (fits(chosen)) ample = sum;
      else short = sum;
      return sum === ample;
    },
    missing: (chosen) => {
      const known = short + 1n - sumOf(chosen);
      return known > 1n ? known : 1n;
    },
  };
}

/** For a device that shares items with another: every set has to be asked about. */
export function freeingByAsking(fits: (chosen: readonly Item[]) => boolean): Freeing {
  return { enough: fits, missing: () => 1n };
}

function sumOf(items: readonly Item[]): bigint {
  return items.reduce((sum, { amount }) => sum + amount, 0n);
}
