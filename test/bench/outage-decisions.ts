import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** What a binder's log says of its decisions. */
export interface Decided {
  readonly decisions: number;
  /** Such as named no version that the function, or what stands before it, has ever told. */
  readonly unknown: number;
  /** Binds whose filter named another version: two versions were mixed for one attempt of one pod. */
  readonly mixed: number;
}

interface Line {
  readonly message: string;
  readonly policy: string;
  readonly verb: string;
  readonly pod: string;
  readonly error?: string;
}

/** Reads a binder's log file: every decision's line names the version that it obeyed. */
export async function readDecisions(logFile: string, served: ReadonlySet<string>): Promise<Decided> {
  const filtered = new Map<string, string>();
  let [decisions, unknown, mixed] = [0, 0, 0];
  for await (const text of createInterface({ input: createReadStream(logFile) })) {
    if (!text.includes('"message":"decision"')) continue;
    const line = JSON.parse(text) as Line;
    decisions++;
    if (!served.has(line.policy)) unknown++;
    if (isOtherThanFiltered(filtered, line)) mixed++;
  }
  return { decisions, unknown, mixed };
}

/** A pod's attempt begins with its filter and ends with its bind; an attempt that failed may be followed by one of another version. */
function isOtherThanFiltered(filtered: Map<string, string>, { policy, verb, pod, error }: Line): boolean {
  if (verb === "filter") {
    filtered.set(pod, policy);
    return false;
  }
  const before = filtered.get(pod) ?? policy;
  if (verb === "bind") filtered.delete(pod);
  return error === undefined && before !== policy;
}
