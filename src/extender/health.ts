import { RELEASE } from "../protocol/release.ts";

/** Counts what a running server has been asked, for people who wonder whether the scheduler calls it at all. */
export interface Health {
  /** Notes a decision that was asked for. */
  called(verb: string): void;
  /** Notes a prioritize that could only be answered with zeros: kube-scheduler has no error field for it. */
  gaveZeros(): void;
  report(): unknown;
}

/**
 * @param now milliseconds since 1970
 */
export function createHealth(now: () => number): Health {
  let calls = 0;
  let zeros = 0;
  let last: { readonly verb: string; readonly at: number } | undefined;
  const lastCall = () => last && { ...last, at: new Date(last.at).toISOString() };
  return {
    called: (verb) => {
      calls++;
      last = { verb, at: now() };
    },
    gaveZeros: () => {
      zeros++;
    },
    report: () => ({ status: "ok", release: RELEASE, calls, lastCall: lastCall() ?? null, prioritizeGaveZeros: zeros }),
  };
}
