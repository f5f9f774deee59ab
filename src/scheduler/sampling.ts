/** Below so many nodes all are looked at (`minFeasibleNodesToFind` in pkg/scheduler/schedule_one.go, v1.37.2). */
const LEAST_NODES = 100;

/** Never less than so much of a cluster (`minFeasibleNodesPercentageToFind`, there). */
const LEAST_PERCENTAGE = 5;

/**
 * How many nodes that fit are enough: kube-scheduler's `numFeasibleNodesToFind`. All of a small cluster, 420 of 1,000,
 * 500 of 10,000.
 *
 * @param percentage `percentageOfNodesToScore`, 1…100; 0 lets the formula choose
 */
export function enoughNodes(percentage: number, nodes: number): number {
  if (nodes < LEAST_NODES) return nodes;
  const chosen = percentage === 0 ? Math.max(LEAST_PERCENTAGE, 50 - Math.trunc(nodes / 125)) : percentage;
  return Math.min(nodes, Math.max(LEAST_NODES, Math.trunc((nodes * chosen) / 100)));
}

/** A pseudo-random number from 0 up to 1, the same row of them for the same seed (Mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The place of the highest number; one of several by chance, as kube-scheduler chooses. -1 for no numbers. */
export function highest(values: readonly number[], random: () => number): number {
  let [best, ties] = [-1, 0];
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number;
    if (best >= 0 && value < (values[best] as number)) continue;
    ties = best >= 0 && value === values[best] ? ties + 1 : 1;
    // Each of n equal ones stays with a chance of 1/n.
    if (ties === 1 || random() * ties < 1) best = index;
  }
  return best;
}

/**
 * Things in turns by group, the groups in order of appearance: kube-scheduler looks at nodes zone by zone in turns, so
 * that a sample holds some of each (pkg/scheduler/backend/cache/node_tree.go, v1.37.2).
 */
export function inTurns<T>(items: Iterable<T>, groupOf: (item: T) => string): T[] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(groupOf(item));
    if (group === undefined) groups.set(groupOf(item), [item]);
    else group.push(item);
  }
  const lists = [...groups.values()];
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  const turns: T[] = [];
  for (let turn = 0; turn < longest; turn++) for (const list of lists) turns.push(...list.slice(turn, turn + 1));
  return turns;
}
