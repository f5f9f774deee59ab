import type { Log } from "../policy/log.ts";
import type { KeptDocuments } from "./kept.ts";
import type { Pulled } from "./pull.ts";
import type { RelayedPolicy } from "./relayed.ts";
import { type Judging, judge, nextOf, type Said } from "./said.ts";

/** How one profile is doing, for metrics and health. */
export interface ProfileState {
  readonly profile: string;
  /** Of the policy in force; absent while none has come. */
  readonly version?: string;
  /** Since the function last said that this is the policy, in seconds; absent while none has come. */
  readonly ageSeconds?: number;
  /** Pulls that gave no usable answer, since the start. */
  readonly failures: number;
  /** What is wrong now, in words; absent when all is well. */
  readonly problem?: string;
}

/** What following one profile needs. */
export interface FollowOptions extends Judging {
  readonly kept?: KeptDocuments;
  changed(now: RelayedPolicy, before: RelayedPolicy | undefined): void;
  readonly log: Log;
}

/** One profile of a function. */
export interface Followed {
  readonly profile: string;
  current(): RelayedPolicy | undefined;
  /** Takes what was kept on disk, for the time until the function has answered. Never rejects. */
  restore(): Promise<void>;
  /** Asks the function by the tag of its last answer, and goes by what it says. Never rejects. */
  take(pull: (tag: string | undefined) => Promise<Pulled | undefined>, signal: AbortSignal): Promise<void>;
  /** True while the function has to say once more what it has said: it is to be asked soon. */
  unsure(): boolean;
  state(): ProfileState;
}

/**
 * A policy that was replaced comes back only when the function has said so in this many answers in a row: two versions
 * that answer by turns, during a deployment, would otherwise change the policy with every pull.
 */
const ANSWERS_TO_RETURN = 3;

/** For how long after it was replaced, in milliseconds. */
const REPLACED_FOR_MS = 60_000;

/** Between two notes on disk that nothing has changed, in milliseconds. */
const NOTED_EVERY_MS = 60_000;

/** What is known of a profile. */
interface Knowledge {
  current: RelayedPolicy | undefined;
  /** When the function last said that `current` is the policy, in milliseconds since 1970. */
  confirmed: number;
  /** When that was last noted on disk. */
  noted: number;
  said: Said | undefined;
  failures: number;
  problem: string | undefined;
  /** Versions that were in force, and when that was over. */
  readonly replaced: Map<string, number>;
}

/** Follows one profile: what comes is checked as a whole, and takes the place of what was in force as a whole. */
export function followProfile(options: FollowOptions): Followed {
  const { profile, kept, log } = options;
  const known: Knowledge = {
    current: undefined,
    confirmed: 0,
    noted: 0,
    said: undefined,
    failures: 0,
    problem: undefined,
    replaced: new Map(),
  };
  return {
    profile,
    current: () => known.current,
    async restore() {
      try {
        const found = await kept?.read(profile);
        if (!found) return;
        const policy = judge(options, found.bytes);
        if ("problem" in policy) throw new Error(policy.problem);
        adopt(options, known, { policy, from: "disk", confirmed: found.at });
      } catch (error) {
        log("warn", "the kept policy is not used", { profile, problem: messageOf(error) });
      }
    },
    async take(pull, signal) {
      try {
        const pulled = await pull(known.said?.tag);
        known.said = nextOf(known.said, pulled, (bytes) => judge(options, bytes));
        if (known.said) await goBy(options, known, known.said);
      } catch (error) {
        if (!signal.aborted) failed(options, known, messageOf(error));
      }
    },
    unsure: () => isUnsure(known),
    state: () => stateOf(profile, known),
  };
}

function stateOf(profile: string, { current, confirmed, failures, problem }: Knowledge): ProfileState {
  const ageSeconds = Math.max(0, Math.round((Date.now() - confirmed) / 1000));
  return {
    profile,
    ...(current && { version: current.policy.version, ageSeconds }),
    failures,
    ...(problem !== undefined && { problem }),
  };
}

function isUnsure({ said, current }: Knowledge): boolean {
  return said !== undefined && "policy" in said.outcome && said.outcome.policy.version !== current?.policy.version;
}

/** Told once, not with every pull. */
function failed({ profile, log }: FollowOptions, known: Knowledge, problem: string): void {
  known.failures++;
  if (known.problem !== problem) log("warn", "the policy could not be taken from the function", { profile, problem });
  known.problem = problem;
}

async function goBy(options: FollowOptions, known: Knowledge, { outcome, bytes, times }: Said): Promise<void> {
  if ("problem" in outcome) return failed(options, known, outcome.problem);
  const { profile, log } = options;
  if (known.problem !== undefined) log("info", "the function gives the policy again", { profile });
  known.problem = undefined;
  const { version } = outcome.policy;
  if (known.current?.policy.version === version) await confirm(options, known);
  else if (times >= ANSWERS_TO_RETURN || !recently(known.replaced, version)) {
    adopt(options, known, { policy: outcome, from: "function", confirmed: Date.now() });
    await keep(options, bytes);
  }
}

/** The file's time is what a restart knows the age by. */
async function confirm({ profile, kept }: FollowOptions, known: Knowledge): Promise<void> {
  known.confirmed = Date.now();
  if (known.confirmed - known.noted < NOTED_EVERY_MS) return;
  known.noted = known.confirmed;
  await kept?.confirm(profile);
}

function adopt(
  { profile, log, changed }: FollowOptions,
  known: Knowledge,
  { policy, from, confirmed }: { readonly policy: RelayedPolicy; readonly from: string; readonly confirmed: number },
): void {
  const before = known.current;
  known.current = policy;
  known.confirmed = confirmed;
  if (before) known.replaced.set(before.policy.version, Date.now());
  const { away } = policy;
  const version = `${profile}@${policy.policy.version}`;
  log("info", "policy in force", { policy: version, from, ...(away.length > 0 && { askedThere: away }) });
  changed(policy, before);
}

function recently(replaced: Map<string, number>, version: string): boolean {
  const now = Date.now();
  for (const [each, at] of replaced) if (now - at > REPLACED_FOR_MS) replaced.delete(each);
  return replaced.has(version);
}

async function keep({ profile, kept, log }: FollowOptions, bytes: Uint8Array): Promise<void> {
  try {
    await kept?.keep(profile, bytes);
  } catch (error) {
    log("warn", "the policy is not kept on disk", { profile, problem: messageOf(error) });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
