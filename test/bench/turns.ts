/** There and back, two turns of each: what grows warmer, or slower, from turn to turn is shared alike. */
export async function thereAndBack<K, T>(one: K, other: K, turn: (whose: K) => Promise<T>): Promise<[T[], T[]]> {
  const turns: [T[], T[]] = [[], []];
  for (const at of [0, 1, 1, 0] as const) turns[at].push(await turn(at === 0 ? one : other));
  return turns;
}

/** The mean of figures of equally many pods each. */
export function mean(figures: readonly number[]): number {
  return figures.reduce((sum, each) => sum + each, 0) / figures.length;
}

/** The rate of turns of equally many pods, taken together: their times are added. */
export function rateOf(rates: readonly number[]): number {
  return 1 / mean(rates.map((rate) => 1 / rate));
}
