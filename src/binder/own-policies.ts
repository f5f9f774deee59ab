import type { Log } from "../policy/log.ts";
import type { PolicyDocuments } from "./policies.ts";

/** Reads the two files; gives the very same documents as long as their texts are the same. Rejects with a sentence. */
export type ReadDocuments = () => Promise<PolicyDocuments>;

/** What following the files needs. */
export interface OwnPoliciesOptions {
  readonly read: ReadDocuments;
  /** What is in force. */
  readonly first: PolicyDocuments;
  /** Puts other documents in force. Rejects with a sentence when they cannot be. */
  apply(documents: PolicyDocuments): Promise<void>;
  readonly log: Log;
  /** Between looks, in milliseconds; default two seconds. */
  readonly every?: number;
}

/** Files that are followed. */
export interface FollowedFiles {
  /** Documents that could not be taken, since the start. */
  failures(): number;
  /** What is wrong with the files now; undefined when nothing is. */
  problem(): string | undefined;
  stop(): Promise<void>;
}

const LOOK_MS = 2_000;

/**
 * Takes over the policy's files when they change, as mounted ConfigMaps do. Polls: such files change by a link that is
 * moved, which notifications miss. A change counts once two looks have seen the same, so that nobody is caught between
 * two files. Faults are logged once, and what was in force stays.
 */
export function followFiles({ read, first, apply, log, every = LOOK_MS }: OwnPoliciesOptions): FollowedFiles {
  let [applied, seen] = [first, first];
  let problem: string | undefined;
  let failures = 0;
  let running: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    const now = await read();
    const still = now === seen;
    seen = now;
    if (still && now !== applied) {
      await apply(now);
      applied = now;
    }
    if (now === applied) problem = undefined;
  };
  const timer = setInterval(() => {
    running = running.then(look).catch((error: unknown) => {
      const words = error instanceof Error ? error.message : String(error);
      if (words === problem) return;
      failures++;
      problem = words;
      log("error", "the policy's files have faults; what was in force stays", { problem: words });
    });
  }, every);
  return {
    failures: () => failures,
    problem: () => problem,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
