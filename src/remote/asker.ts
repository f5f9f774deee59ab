import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { JsonObject } from "../protocol/json.ts";
import { type Breaker, createBreaker } from "./breaker.ts";
import type { FunctionAnswer, FunctionClient } from "./client.ts";
import { type Asked, problemOf, questionBody, type Reading, readAnswer } from "./question.ts";
import type { FarRow, Refused } from "./rows.ts";

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
  /**
   * A row for each node in its order, why the function cannot judge this pod on these nodes, or undefined when there was
   * nothing that can be used in time. Does not throw.
   *
   * @param until when the answer is of no use any more, by `elapsed`; default: after the deadline
   */
  ask(
    asked: Asked,
    pod: JsonObject,
    nodes: readonly JsonObject[],
    until?: number,
  ): Promise<readonly FarRow[] | Refused | undefined>;
  /** True while questions are in vain. */
  isAway(): boolean;
  /** How long whoever asks is kept waiting, in milliseconds. */
  readonly deadline: number;
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number;
  stop(): void;
}

/** Smaller bodies do not become smaller. */
const WORTH_PACKING = 1_000;

const MOST_BYTES = 32 * 1024 * 1024;

/** While a function is deployed, two versions may answer by turns. */
const ATTEMPTS = 4;

/** A question that had less than this part of the deadline tells nothing by not being answered. */
const FAIR = 0.5;

const pack = promisify(gzip);

/** Begins to ask a function. */
export function createAsker(options: AskerOptions): Asker {
  const { deadline, elapsed } = options;
  const asking = { options, takesGzip: true };
  let last: Asked | undefined;
  const breaker = createBreaker({
    // About no plugin, no pod and no node: it tells whether the function is there, whatever it thinks of any pod.
    probe: async () => {
      if (last === undefined) return false;
      const neutral = { asked: { ...last, plugins: [], columns: [] }, pod: {}, nodes: [] };
      return (await once(asking, neutral, elapsed() + deadline)).alive;
    },
    back: options.back,
    ...(options.probeEvery !== undefined && { every: options.probeEvery }),
  });
  return {
    async ask(asked, pod, nodes, until = elapsed() + deadline) {
      if (breaker.isOpen() || elapsed() >= until) return undefined;
      last = asked;
      return attempt(asking, { asked, pod, nodes }, { breaker, until });
    },
    isAway: breaker.isOpen,
    deadline,
    elapsed,
    stop: breaker.stop,
  };
}

interface Asking {
  readonly options: AskerOptions;
  /** False once the function has taken a question plain that it did not take packed: an older one does not unpack. */
  takesGzip: boolean;
}

interface Question {
  readonly asked: Asked;
  readonly pod: JsonObject;
  readonly nodes: readonly JsonObject[];
}

async function attempt(
  asking: Asking,
  question: Question,
  { breaker, until }: { readonly breaker: Breaker; readonly until: number },
): Promise<readonly FarRow[] | Refused | undefined> {
  const { options } = asking;
  for (let tries = 0; tries < ATTEMPTS && options.elapsed() < until; tries++) {
    const fair = until - options.elapsed() >= options.deadline * FAIR;
    const { reading, alive } = await once(asking, question, until);
    if (alive) breaker.passed();
    else if (fair) failed(breaker, options);
    if ("version" in reading) continue;
    if ("rows" in reading) return reading.rows;
    options.warn("the function gave no rows", { profile: question.asked.profile, problem: problemOf(reading) });
    return "refused" in reading ? reading : undefined;
  }
  options.otherVersion(question.asked.profile);
  return undefined;
}

function failed(breaker: Breaker, { away }: AskerOptions): void {
  if (breaker.failed()) away?.();
}

/** `alive`: the function has answered, be it by another version or that it cannot judge this pod. */
async function once(
  asking: Asking,
  question: Question,
  until: number,
): Promise<{ readonly reading: Reading; readonly alive: boolean }> {
  const { metrics, elapsed } = asking.options;
  const started = elapsed();
  const traffic = { sent: 0, received: 0 };
  const tell = (outcome: Outcome) => metrics.question(outcome, traffic, (elapsed() - started) / 1000);
  try {
    const reading = readAnswer(await send(asking, question, { until, traffic }), question.asked, question.nodes.length);
    if ("rows" in reading) tell("answered");
    else tell("version" in reading ? "other_version" : "refused");
    return { reading, alive: !("problem" in reading) || reading.alive === true };
  } catch (error) {
    tell("failed");
    return { reading: { problem: error instanceof Error ? error.message : String(error) }, alive: false };
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
  within: { readonly until: number; readonly traffic: Traffic },
): Promise<FunctionAnswer> {
  const text = questionBody(question.asked, question.pod, question.nodes);
  if (!asking.takesGzip || text.length < WORTH_PACKING) return post(asking, question, { ...within, body: text });
  const packed = await post(asking, question, { ...within, body: await pack(text) });
  if (packed.status !== 400 && packed.status !== 415) return packed;
  const plain = await post(asking, question, { ...within, body: text });
  // What is refused either way is refused for what it says.
  if (plain.status === 200) asking.takesGzip = false;
  return plain;
}

/** Text is sent as it is, bytes are packed ones. */
async function post(
  { options }: Asking,
  { asked }: Question,
  { until, traffic, body }: { readonly until: number; readonly traffic: Traffic; readonly body: string | Uint8Array },
): Promise<FunctionAnswer> {
  const headers: Record<string, string> = typeof body === "string" ? {} : { "Content-Encoding": "gzip" };
  const answer = await options.client.ask({
    path: `/${asked.profile}/evaluate`,
    body,
    headers,
    timeoutMs: Math.max(1, Math.ceil(until - options.elapsed())),
    maxBytes: MOST_BYTES,
  });
  traffic.sent += body.length;
  traffic.received += answer.bytes;
  return answer;
}
