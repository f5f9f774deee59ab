import type { Log } from "../policy/log.ts";
import type { AnyPlugin } from "../policy/plugin.ts";
import type { Policy } from "../policy/policy.ts";
import type { FunctionClient } from "./client.ts";
import { type Followed, followProfile, type ProfileState } from "./followed.ts";
import { keptDocuments } from "./kept.ts";
import { pullProfile } from "./pull.ts";
import type { RelayedPolicy } from "./relayed.ts";

/** Where policies come from and what becomes of them. */
export interface SourceOptions {
  readonly client: FunctionClient;
  readonly profiles: readonly string[];
  /** Those that can be decided here. */
  readonly plugins: readonly AnyPlugin[];
  /** Why this program could not decide by a policy, a sentence for people; undefined when it can. */
  unfit?(policy: Policy): string | undefined;
  /** A directory for the last good policies; absent: none are kept. */
  readonly keptIn?: string;
  /** Between pulls, in milliseconds; each pause is up to a sixth longer or shorter. */
  readonly every: number;
  readonly log: Log;
}

/** Hears that a profile has another policy from now on; `before` is absent when it had none. */
export type Change = (profile: string, now: RelayedPolicy, before: RelayedPolicy | undefined) => void;

/** The policies of a function, followed for as long as the program runs. */
export interface PolicySource {
  /** The policy in force; undefined while none has come. */
  current(profile: string): RelayedPolicy | undefined;
  /** Gives the way out. */
  subscribe(changed: Change): () => void;
  /** Pulls soon instead of at the next turn; at most once a second. */
  refresh(): void;
  states(): readonly ProfileState[];
  stop(): Promise<void>;
}

const SOON_MS = 1_000;

/** Starts to follow a function's policies. Resolves when what was kept has been read and the first pull is over. */
export async function startPolicySource(options: SourceOptions): Promise<PolicySource> {
  const hearers = new Set<Change>();
  const changed: Change = (...change) => {
    for (const hear of hearers) hear(...change);
  };
  const kept = options.keptIn === undefined ? undefined : keptDocuments(options.keptIn);
  const follow = (profile: string) =>
    followProfile({ ...options, profile, changed: (...change) => changed(profile, ...change), ...(kept && { kept }) });
  const followed = new Map(options.profiles.map((profile): [string, Followed] => [profile, follow(profile)]));
  await Promise.all([...followed.values()].map((each) => each.restore()));
  const turns = takeTurns(options, [...followed.values()]);
  await turns.first;
  return {
    current: (profile) => followed.get(profile)?.current(),
    subscribe(hear) {
      hearers.add(hear);
      return () => void hearers.delete(hear);
    },
    refresh: turns.hurry,
    states: () => [...followed.values()].map((each) => each.state()),
    stop: turns.stop,
  };
}

/** Pulls again and again, with pauses of no fixed length: replicas that started together drift apart. */
function takeTurns({ client, every }: SourceOptions, followed: readonly Followed[]) {
  const over = new AbortController();
  const { signal } = over;
  let wake: () => void = () => undefined;
  let hurried = false;
  const turn = (): Promise<unknown> =>
    Promise.all(followed.map((each) => each.take((tag) => pullProfile(client, each.profile, { tag, signal }), signal)));
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const soon = hurried || followed.some((each) => each.unsure());
      const timer = setTimeout(done, soon ? Math.min(SOON_MS, every) : every * (5 / 6 + Math.random() / 3));
      function done(): void {
        clearTimeout(timer);
        resolve();
      }
      wake = done;
    });
  const first = turn();
  const run = async (): Promise<void> => {
    await first;
    while (!signal.aborted) {
      await pause();
      hurried = false;
      if (!signal.aborted) await turn();
    }
  };
  const running = run();
  return {
    first,
    hurry(): void {
      if (hurried) return;
      hurried = true;
      setTimeout(() => wake(), Math.min(SOON_MS, every)).unref();
    },
    async stop(): Promise<void> {
      over.abort();
      wake();
      await running;
    },
  };
}
