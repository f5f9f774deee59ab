import type { AnyPlugin } from "../policy/plugin.ts";
import type { Policy } from "../policy/policy.ts";
import { readProfile } from "./document.ts";
import type { Pulled } from "./pull.ts";
import { type RelayedPolicy, relayedPolicy, type Unfit } from "./relayed.ts";

/** The last answer of the function. */
export interface Said {
  readonly tag: string | undefined;
  readonly bytes: Uint8Array;
  readonly outcome: RelayedPolicy | Unfit;
  /** How often in a row. */
  readonly times: number;
}

/** By what a document is judged. */
export interface Judging {
  readonly profile: string;
  /** Those that can be decided here. */
  readonly plugins: readonly AnyPlugin[];
  /** Why this program could not decide by a policy, a sentence for people; undefined when it can. */
  unfit?(policy: Policy): string | undefined;
}

/** Makes a policy of a document, or says what is wrong with it. */
export function judge({ profile, plugins, unfit }: Judging, bytes: Uint8Array): RelayedPolicy | Unfit {
  const read = readProfile(bytes, profile);
  if ("problem" in read) return read;
  const relayed = relayedPolicy(read.value, plugins);
  const problem = "problem" in relayed ? undefined : unfit?.(relayed.policy);
  return problem === undefined ? relayed : { problem: `profile ${profile}: ${problem}` };
}

/** A function that still has the document, or sends the same version once more, has said it once more. */
export function nextOf(
  said: Said | undefined,
  pulled: Pulled | undefined,
  judged: (bytes: Uint8Array) => RelayedPolicy | Unfit,
): Said | undefined {
  if (!pulled) return said && { ...said, times: said.times + 1 };
  const outcome = judged(pulled.bytes);
  const same =
    said !== undefined && versionOf(said.outcome) !== undefined && versionOf(said.outcome) === versionOf(outcome);
  // What was refused may have been damaged on its way: it is asked for as a whole again.
  const tag = "problem" in outcome ? undefined : pulled.tag;
  return { bytes: pulled.bytes, tag, outcome, times: same ? said.times + 1 : 1 };
}

function versionOf(outcome: RelayedPolicy | Unfit): string | undefined {
  return "problem" in outcome ? undefined : outcome.policy.version;
}
