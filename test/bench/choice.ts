/** What may be chosen of a benchmark; each takes what concerns it. */
export interface Choice {
  /** One small run that only shows that everything works. */
  readonly smoke: boolean;
  /** Whether the figures go to docs/performance.md. */
  readonly write: boolean;
  readonly nodes?: number;
  /** Pods of each run. */
  readonly pods?: number;
  /** Runs of each rival. */
  readonly runs?: number;
  /** kube-scheduler's `percentageOfNodesToScore`; absent is its default. */
  readonly percentage?: number;
  /** Of each phase. */
  readonly seconds?: number;
  /** Which pods: a few templates, all different, or both where it is absent. */
  readonly kind?: "templates" | "different";
  readonly progress: (message: string) => void;
}

/** Options as the command line has them. */
export type Given = Readonly<Record<string, string | boolean | undefined>>;

const NUMBERS = ["nodes", "pods", "runs", "percentage", "seconds"] as const;

/**
 * Reads what the command line chose.
 *
 * @throws {Error} with a sentence, where a value makes no sense
 */
export function readChoice(given: Given, progress: Choice["progress"]): Choice {
  const numbers = NUMBERS.flatMap((name) => {
    const text = given[name];
    return text === undefined ? [] : [[name, wholeNumber(name, String(text))] as const];
  });
  const { kind } = given;
  if (kind !== undefined && kind !== "templates" && kind !== "different")
    throw new Error(`--kind must be templates or different, not ${JSON.stringify(kind)}`);
  const { smoke, write } = given;
  return {
    ...Object.fromEntries(numbers),
    smoke: smoke === true,
    write: write === true,
    ...(kind !== undefined && { kind }),
    progress,
  };
}

function wholeNumber(name: (typeof NUMBERS)[number], text: string): number {
  const most = name === "percentage" ? 100 : 1_000_000;
  if (/^\d{1,7}$/.test(text) && Number(text) >= 1 && Number(text) <= most) return Number(text);
  throw new Error(`--${name} must be a whole number from 1 to ${most}, not ${JSON.stringify(text)}`);
}
