import { stat, utimes } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { PolicyFilesError } from "../adapters/policy-files.ts";
import type { Policy } from "../policy/policy.ts";
import { DevError } from "./dev-error.ts";
import { POLICY_FILES, policyName, readDevPolicy } from "./dev-policy.ts";

/** What to do as the policy's files change. */
export interface PolicyFollower {
  readonly profile: string | undefined;
  /**
   * Shows what the function decides by a policy. Answers false when the function does not have it yet; then it is
   * asked again.
   *
   * @throws {DevError} when the function has it and cannot decide by it
   */
  readonly show: (policy: Policy) => Promise<boolean>;
  readonly note: (text: string) => void;
  /** True ends it after the first decision. */
  readonly once: boolean;
  /** Ends it with an abort error. */
  readonly signal: AbortSignal;
}

const LOOK_MS = 200;

/** The function takes over within two seconds; wrangler needs looking at after this time. */
const PATIENCE_MS = 60_000;

/**
 * Shows the decision by a policy, and again whenever its files give another one. Polls: a look costs nothing, and
 * editors replace files in ways that notifications miss. Faults are told, and the last good policy stays in force.
 *
 * @param first the policy that the files gave when they had `stamp`
 * @param stamp of {@link stampOf}
 */
export async function followPolicy(first: Policy, stamp: string, follower: PolicyFollower): Promise<void> {
  const edited = editWatch(stamp);
  let state: State = { inForce: first, wanted: { policy: first, since: Date.now() }, faulty: false };
  for (;;) {
    state = await showWanted(state, follower);
    if (follower.once && !state.wanted) return;
    await sleep(LOOK_MS, undefined, { signal: follower.signal });
    if (await edited()) state = await readEdit(state, follower);
  }
}

/** Changes whenever one of the policy's files is written, replaced or removed. */
export async function stampOf(): Promise<string> {
  const stamps = Object.values(POLICY_FILES).map(async (file) => {
    const found = await stat(file).catch(() => undefined);
    return found ? `${found.ino} ${found.mtimeMs} ${found.size}` : "none";
  });
  return (await Promise.all(stamps)).join("\n");
}

/**
 * Has wrangler, which watches the policy's files, build them again although they are as they were: what is changed
 * while it starts, after its first build and before it watches, it does not see. The time of the last change stays.
 */
export async function rebuild(): Promise<void> {
  for (const file of Object.values(POLICY_FILES)) {
    try {
      const { mtime } = await stat(file);
      await utimes(file, mtime, mtime);
    } catch {
      // A file that is gone, or somebody else's: then the fault is told, or there was no edit.
    }
  }
}

interface State {
  /** What the function was last seen to decide by. */
  readonly inForce: Policy;
  /** What it is to decide by next, and since when. */
  readonly wanted?: { readonly policy: Policy; readonly since: number };
  /** True while the files have faults. */
  readonly faulty: boolean;
}

/** A file that is just being written is not an edit before it has been still from one look to the next. */
function editWatch(stamp: string): () => Promise<boolean> {
  let handled = stamp;
  let seen = stamp;
  return async () => {
    const now = await stampOf();
    const still = now === seen;
    seen = now;
    if (!still || now === handled) return false;
    handled = now;
    return true;
  };
}

async function showWanted({ wanted, ...state }: State, { show, note, once }: PolicyFollower): Promise<State> {
  if (!wanted) return state;
  try {
    if (await show(wanted.policy)) return { ...state, inForce: wanted.policy };
    if ((state.faulty && !once) || Date.now() - wanted.since < PATIENCE_MS) return { ...state, wanted };
    const late = `the function has not taken over ${policyName(wanted.policy)} within ${PATIENCE_MS / 1000} s`;
    throw new DevError(`${late}: --verbose shows what wrangler does`);
  } catch (error) {
    if (!(error instanceof DevError) || once) throw error;
    note(error.message);
    return state;
  }
}

async function readEdit(state: State, { profile, note }: PolicyFollower): Promise<State> {
  const { inForce } = state;
  try {
    const policy = await readDevPolicy(profile ?? inForce.profile);
    const wanted = { policy, since: Date.now() };
    if ((state.wanted?.policy ?? inForce).version !== policy.version) {
      note(`Changed: policy ${policyName(policy)}. The function takes it over in a few seconds.`);
      return { inForce, faulty: false, wanted };
    }
    if (state.faulty) note(`In order again: policy ${policyName(policy)}.`);
    return { inForce, faulty: false, ...(state.wanted && { wanted }) };
  } catch (error) {
    if (!(error instanceof PolicyFilesError || error instanceof DevError)) throw error;
    note(`${error.message}\nStill in force: policy ${policyName(inForce)}.`);
    // What was right just before may have reached the function already, and is shown when it has.
    return { ...state, faulty: true };
  }
}
