import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { JsonObject } from "../protocol/json.ts";
import { type Breaker, createBreaker } from "./breaker.ts";
import type { FunctionAnswer, FunctionClient } from "./client.ts";
import { type Asked, questionBody, type Reading, readAnswer } from "./question.ts";
import type { FarRow } from "./rows.ts";

/** Hears what becomes of questions; see docs/metrics.md. */
export interface AskerMetrics {
  /** @param bytes on the wire, both ways, headers not counted */
  question(outcome: Outcome, bytes: { readonly sent: number; readonly received: number }, seconds: number): void;
}

/** What became of a question. */
export type Outcome = "answered" | "other_version" | "refused" | "failed";

/** What an asker needs. */
export interface AskerOptions {
  readonly client: Pick<FunctionClient, "ask">;
  /** How long a question may take, in milliseconds. */
  readonly deadline: number;
  /** The function decides by another version of a profile than was asked about. */
  otherVersion(profile: string): void;
  /** The function answers again after it has failed, be it once. */
  back(): void;
  /** The function is not asked any more until it answers. */
  away?(): void;
  readonly metrics: AskerMetrics;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number;
  /** Between probes of a function that is away, in milliseconds. */
  readonly probeEvery?: number;
}

/** Asks one function for rows. */
export interface Asker {
  /** A row for each node in its order, or undefined when there was none in time. Does not throw. */
  ask(asked: Asked, pod: JsonObject, nodes: readonly JsonObject[]): Promise<readonly FarRow[] | undefined>;
  /** True while questions are in vain. */
  isAway(): boolean;
  stop(): void;
}

/** Smaller bodies do not become smaller. */
const WORTH_PACKING = 1_000;

const MOST_BYTES = 32 * 1024 * 1024;

/** While a function is deployed, two versions may answer by turns. */
const ATTEMPTS = 4;

const pack = promisify(gzip);

/** Begins to ask a function. */
export function createAsker(options: AskerOptions): Asker {
  const asking = { options, takesGzip: true };
  let last: (() => Promise<boolean>) | undefined;
  const breaker = createBreaker({
    probe: async () => (await last?.()) ?? false,
    back: options.back,
    ...(options.probeEvery !== undefined && { every: options.probeEvery }),
  });
  return {
    async ask(asked, pod, nodes) {
      if (breaker.isOpen()) return undefined;
      const rows = await attempt(asking, { asked, pod, nodes }, breaker);
      // A question about no nodes tells as much, and is answered at once.
      if (rows === undefined)
        last = async () => (await once(asking, { asked, pod, nodes: [] }, options.deadline)).alive;
      return rows;
    },
    isAway: breaker.isOpen,
    stop: breaker.stop,
  };
}

interface Asking {
  readonly options: AskerOptions;
  /** False once the function has not understood a packed question: an older one does not. */
  takesGzip: boolean;
}

interface Question {
  readonly asked: Asked;
  readonly pod: JsonObject;
  readonly nodes: readonly JsonObject[];
}

async function attempt(asking: Asking, question: Question, breaker: Breaker): Promise<readonly FarRow[] | undefined> {
  const { options } = asking;
  const until = options.elapsed() + options.deadline;
  for (let tries = 0; tries < ATTEMPTS; tries++) {
    const left = until - options.elapsed();
    if (left <= 0) return undefined;
    const { rows, alive, problem } = await once(asking, question, left);
    if (!alive) {
      options.warn("the function gave no rows", { profile: question.asked.profile, problem });
      if (breaker.failed()) options.away?.();
      return undefined;
    }
    breaker.passed();
    if (rows) return rows;
  }
  options.otherVersion(question.asked.profile);
  return undefined;
}

/** `alive`: the function has answered, be it by another version. */
async function once(
  asking: Asking,
  question: Question,
  timeoutMs: number,
): Promise<{ readonly rows?: readonly FarRow[]; readonly alive: boolean; readonly problem?: string }> {
  const { metrics, elapsed } = asking.options;
  const started = elapsed();
  const traffic = { sent: 0, received: 0 };
  const tell = (outcome: Outcome) => metrics.question(outcome, traffic, (elapsed() - started) / 1000);
  try {
    const { status, body } = await send(asking, question, { timeoutMs, traffic });
    const reading: Reading =
      status === 200
        ? readAnswer(body, question.asked, question.nodes.length)
        : { problem: `it answered ${status} instead of 200` };
    if ("problem" in reading) tell("refused");
    else tell("rows" in reading ? "answered" : "other_version");
    return { ...("version" in reading ? {} : reading), alive: !("problem" in reading) };
  } catch (error) {
    tell("failed");
    return { alive: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Bytes on the wire, counted as they go. */
interface Traffic {
  sent: number;
  received: number;
}

/** Packs the question, unless it is small or the function has shown that it cannot take it so. */
async function send(
  asking: Asking,
  question: Question,
  { timeoutMs, traffic }: { readonly timeoutMs: number; readonly traffic: Traffic },
): Promise<FunctionAnswer> {
  const { asked, pod, nodes } = question;
  const text = questionBody(asked, pod, nodes);
  const packed = asking.takesGzip && text.length >= WORTH_PACKING;
  const body = packed ? await pack(text) : text;
  const headers: Record<string, string> = packed ? { "Content-Encoding": "gzip" } : {};
  const path = `/${asked.profile}/evaluate`;
  const within = Math.max(1, Math.ceil(timeoutMs));
  const answer = await asking.options.client.ask({ path, body, headers, timeoutMs: within, maxBytes: MOST_BYTES });
  traffic.sent += body.length;
  traffic.received += answer.bytes;
  if (!packed || (answer.status !== 400 && answer.status !== 415)) return answer;
  asking.takesGzip = false;
  return send(asking, question, { timeoutMs, traffic });
}
