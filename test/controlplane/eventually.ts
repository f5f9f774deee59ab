import { inspect, isDeepStrictEqual } from "node:util";

/** How long and how often to look, in milliseconds. */
export interface Patience {
  /** Default 30,000. */
  readonly within?: number;
  /** Default 100. */
  readonly every?: number;
}

/** Notes what a probe sees, for the message if it never holds. */
export type Saw = (seen: unknown) => void;

/**
 * Probes until the answer is neither undefined nor false, and returns it. A probe that throws is tried again and its
 * message is what was seen. When the time is up it throws, saying what was awaited and what was seen last.
 */
export async function eventually<T>(
  what: string,
  probe: (saw: Saw) => T | undefined | false | Promise<T | undefined | false>,
  patience: Patience = {},
): Promise<T> {
  const { within = 30_000, every = 100 } = patience;
  const deadline = Date.now() + within;
  let seen: unknown = "nothing";
  const saw: Saw = (value) => {
    seen = value;
  };
  for (;;) {
    try {
      const answer = await probe(saw);
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      saw(error instanceof Error ? error.message : error);
    }
    if (Date.now() >= deadline) {
      throw new Error(`not within ${within / 1000} s: ${what}. Seen last: ${show(seen)}`);
    }
    await pause(every);
  }
}

/**
 * Watches for a while (ms) that an answer stays what it is, for "nothing more happens". Throws as soon as it changes.
 */
export async function stays<T>(what: string, probe: () => T | Promise<T>, during: number): Promise<T> {
  const first = await probe();
  const end = Date.now() + during;
  while (Date.now() < end) {
    await pause(100);
    const now = await probe();
    if (!isDeepStrictEqual(now, first)) throw new Error(`changed: ${what}. First ${show(first)}, then ${show(now)}`);
  }
  return first;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function show(value: unknown): string {
  return typeof value === "string" ? value : inspect(value, { depth: 6, breakLength: 120 });
}
