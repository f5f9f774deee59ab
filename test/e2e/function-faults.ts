import type { FunctionFault } from "./function-proxy.ts";

/** What a function may do in mid-load. */
export interface KnownFault {
  /** Completes "a function that …". */
  readonly told: string;
  /** Begins anew each time. */
  fault(): FunctionFault;
  /** Whether a binder calls the function away while it lasts. */
  readonly away: boolean;
}

/** The version that half of the answers have while two answer by turns. */
export const OTHER_VERSION = "feedfacefeed";

/** Every way to fail that a binder has to go on through. */
export const FUNCTION_FAULTS: readonly KnownFault[] = [
  { told: "was killed", fault: () => "killed", away: true },
  { told: "answers after ten seconds", fault: () => ({ late: 10_000 }), away: true },
  { told: "answers 500", fault: () => ({ status: 500, text: '{"error":"internal error"}' }), away: true },
  { told: "answers garbage", fault: () => ({ status: 200, text: "<html>Bad gateway</html>" }), away: true },
  {
    told: "speaks an older protocol",
    fault: () => ({ change: (answer) => ({ ...answer, protocol: 0 }) }),
    away: true,
  },
  { told: "answers by two versions by turns", fault: byTurns, away: false },
];

function byTurns(): FunctionFault {
  let answers = 0;
  return { change: (answer) => (answers++ % 2 === 0 ? { ...answer, version: OTHER_VERSION } : answer) };
}
