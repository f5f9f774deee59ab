/**
 * Counts the ways from state 0 to a state without successors; states that were never expanded count as such. There is
 * no way back from a state to itself, for every step uses something up: a request, an operation, a fault.
 */
export function countPaths(edges: readonly (readonly number[] | undefined)[]): bigint {
  const ways = new Map<number, bigint>();
  const stack = [0];
  for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
    const successors = edges[at] ?? [];
    const open = successors.filter((next) => !ways.has(next));
    if (open.length > 0) {
      stack.push(...open);
      continue;
    }
    stack.pop();
    const sum = successors.reduce((total, next) => total + (ways.get(next) ?? 0n), 0n);
    ways.set(at, successors.length === 0 ? 1n : sum);
  }
  return ways.get(0) ?? 0n;
}
