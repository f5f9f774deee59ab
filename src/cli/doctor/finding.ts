/** How a step went. A failed step keeps kube-scheduler from being answered; a warning will sooner or later. */
export type Status = "ok" | "note" | "warning" | "failed" | "skipped";

/** What one step found. No text of it holds a credential. */
export interface Finding {
  /** The step's name: `DNS`, `TCP`, `TLS`, … */
  readonly step: string;
  readonly status: Status;
  /** What is so, in a sentence. */
  readonly what: string;
  /** What to do about it; absent where all is well. */
  readonly mend?: string;
}

/** All is well. */
export function ok(step: string, what: string): Finding {
  return { step, status: "ok", what };
}

/** Something is wrong; `status` says how bad it is. */
export function wrong(step: string, status: "warning" | "failed", what: string, mend: string): Finding {
  return { step, status, what, mend };
}

/** Could not be looked at. */
export function skipped(step: string, what: string, mend?: string): Finding {
  return { step, status: "skipped", what, ...(mend !== undefined && { mend }) };
}

/** Whether any step failed, after which asking further makes no sense. */
export function anyFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ status }) => status === "failed");
}
