import type { Connection } from "./connection.ts";
import { type Attempted, attempt, type Candidate, release } from "./lease-attempt.ts";
import type { Warn } from "./listeners.ts";
import { pause, systemTiming, type Timing } from "./timing.ts";

/** Who competes for what. */
export interface ElectionOptions {
  readonly connection: Pick<Connection, "call">;
  /** The Lease, made when it is missing. */
  readonly namespace: string;
  readonly name: string;
  /** Different for every start of every process, or two of them would take each other for themselves. */
  readonly identity: string;
  /** How long others leave an unchanged Lease alone, in milliseconds; whole seconds. Default 15,000. */
  readonly duration?: number;
  /** How long after the last renewal was sent the leader steps down, in milliseconds. Default 10,000. */
  readonly renewDeadline?: number;
  /** Between attempts, in milliseconds, more or less. Default 2,000. */
  readonly retryPeriod?: number;
  readonly timing?: Timing;
  /** Called when we begin to lead. Must not throw. */
  onStarted?(): void;
  /** Called as soon as we may not lead any more, before anybody else can begin. Must not throw. */
  onStopped?(): void;
  readonly warn?: Warn;
}

/** How the election goes, for metrics and readiness. */
export interface ElectionState {
  readonly leader: boolean;
  /** The identity of who holds the Lease, as last seen; empty when nobody does. */
  readonly holder: string;
  /** How often the Lease has changed hands, as last seen. */
  readonly transitions: number;
  /** Milliseconds since we last renewed or took the Lease; absent when we never did. */
  readonly renewedAgo?: number;
  /** Why the last attempt failed; absent when all is well, also for those who wait in line. */
  readonly problem?: string;
}

/** One candidate. */
export interface Election {
  /** True from a renewal until `renewDeadline` after it was sent, however late timers and answers are. */
  isLeader(): boolean;
  state(): ElectionState;
  /** Steps down at once, then gives the Lease back, so that the next one need not wait. */
  stop(): Promise<void>;
}

/**
 * Takes part in the election of a leader by a Lease, for good: who has stepped down competes again.
 *
 * At most one leads as long as the clocks of the machines run at about the same speed (a third of difference is
 * allowed by the defaults); what time they show does not matter. The leader counts from before it sent its last
 * renewal, the others from after they first saw it, and its deadline is shorter than theirs.
 *
 * @throws RangeError for times that do not fit together
 */
export function startElection(options: ElectionOptions): Election {
  const { duration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000, timing = systemTiming, ...rest } = options;
  if (!(Number.isInteger(duration / 1000) && renewDeadline < duration && 1.2 * retryPeriod < renewDeadline)) {
    throw new RangeError("an election needs retryPeriod × 1.2 < renewDeadline < duration, in whole seconds the last");
  }
  const stopping = new AbortController();
  const term = createTerm(options, timing);
  const candidate: Candidate = {
    ...rest,
    timing,
    seconds: duration / 1000,
    within: () => Math.max(retryPeriod, renewDeadline / 4),
    known: undefined,
  };
  let problem: string | undefined;

  const judge = (attempted: Attempted): void => {
    problem = attempted.kind === "failed" ? attempted.message : undefined;
    if (problem !== undefined) options.warn?.("The Lease could not be had", { problem });
    if (attempted.kind === "held") term.extend(attempted.sentAt, attempted.sentAt + renewDeadline);
    if (attempted.kind === "following") term.end();
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const attempted = await attempt(candidate);
      if (stopping.signal.aborted) return;
      judge(attempted);
      await pause(timing, nextIn(attempted, retryPeriod, timing.random()), stopping.signal);
    }
  };
  const running = run();
  return {
    isLeader: term.isLeading,
    state: () => ({
      leader: term.isLeading(),
      holder: candidate.known?.holder ?? "",
      transitions: candidate.known?.transitions ?? 0,
      ...(term.renewedAt() !== undefined && { renewedAgo: timing.elapsed() - (term.renewedAt() ?? 0) }),
      ...(problem !== undefined && { problem }),
    }),
    async stop() {
      stopping.abort();
      term.end();
      await running;
      await release(candidate);
    },
  };
}

/** A quarter of jitter keeps candidates from asking in step; after a failure there is no time to lose. */
function nextIn({ kind }: Attempted, retryPeriod: number, chance: number): number {
  const period = kind === "failed" || kind === "raced" ? retryPeriod / 2 : retryPeriod;
  return period * (1 + chance / 4);
}

/** The time during which we lead. */
interface Term {
  isLeading(): boolean;
  renewedAt(): number | undefined;
  extend(sentAt: number, until: number): void;
  end(): void;
}

function createTerm(calls: Pick<ElectionOptions, "onStarted" | "onStopped">, timing: Timing): Term {
  let until = Number.NEGATIVE_INFINITY;
  let renewedAt: number | undefined;
  let told = false;
  let cancel = (): void => undefined;
  const isLeading = (): boolean => timing.elapsed() < until;
  const end = (): void => {
    until = Number.NEGATIVE_INFINITY;
    cancel();
    if (!told) return;
    told = false;
    calls.onStopped?.();
  };
  return {
    isLeading,
    renewedAt: () => renewedAt,
    end,
    extend(sentAt, next) {
      // The end of the last term may have passed unnoticed, if this process was held up.
      if (!isLeading()) end();
      until = next;
      renewedAt = sentAt;
      cancel();
      cancel = timing.after(until - timing.elapsed(), end);
      if (told || !isLeading()) return;
      told = true;
      calls.onStarted?.();
    },
  };
}
