import { type Check, checkSchema, type PathFault } from "../../../policy/faults.ts";
import { field, isObject, type Json } from "../../../protocol/json.ts";
import type { Path } from "../../kube-scheduler/document.ts";
import { formatDuration, parseDuration } from "../../kube-scheduler/duration.ts";
import { entries } from "../../kube-scheduler/extender.ts";
import type { Found } from "../../kube-scheduler/read.ts";
import type { Remark, Rule } from "../finding.ts";
import { configurationSchema, policySchema } from "../schema.ts";

/** Keys that v1 does not know, in wrong letters, and values of the wrong type: kube-scheduler refuses the file. */
export const shape: Rule = (found) => [...fields(found), ...durations(found)];

const CHECKS: Readonly<Record<Found["kind"], Check<unknown>>> = {
  KubeSchedulerConfiguration: checkSchema(configurationSchema),
  Policy: checkSchema(policySchema),
};

function fields({ kind, value }: Found): Remark[] {
  const checked = CHECKS[kind](value);
  return "value" in checked ? [] : checked.faults.map((fault) => remarkOf(fault));
}

function remarkOf({ path, message, at }: PathFault): Remark {
  if (at !== "key") {
    // What stands there could be a secret in the wrong place: it is not repeated.
    const must = message.replace(/, not .*/s, "");
    return {
      rule: "wrong-value",
      severity: "error",
      path,
      reason: `${must}: kube-scheduler refuses the file`,
      mend: "Correct the value.",
    };
  }
  const key = String(path.at(-1));
  const known = (/known here: (.*)$/s.exec(message)?.[1] ?? "").split(", ");
  const casing = known.find((each) => each.toLowerCase() === key.toLowerCase());
  const meant = casing ?? /did you mean (.*?)\?/.exec(message)?.[1];
  return {
    rule: casing ? "key-casing" : "unknown-key",
    severity: "error",
    path,
    reason: casing
      ? `keys are case-sensitive in v1: ${key} is not ${casing}, and kube-scheduler refuses the file`
      : `${key} is no field of v1: kube-scheduler refuses the file`,
    mend: meant === undefined ? `Remove ${key}.` : `Write ${meant}.`,
  };
}

function durations({ kind, value }: Found): Remark[] {
  const leader = field(value, "leaderElection");
  const places: [Path, Json | undefined][] = [
    ...entries(field(value, "extenders")).map((entry, index): [Path, Json | undefined] => [
      ["extenders", index, "httpTimeout"],
      entry["httpTimeout"],
    ]),
    ...["leaseDuration", "renewDeadline", "retryPeriod"].map((key): [Path, Json | undefined] => [
      ["leaderElection", key],
      isObject(leader) ? leader[key] : undefined,
    ]),
  ];
  return places.flatMap(([path, each]) => durationRemark(path, each, kind));
}

function durationRemark(path: Path, value: Json | undefined, kind: Found["kind"]): Remark[] {
  if (value === undefined) return [];
  if (typeof value === "number") {
    const wanted = value === 0 ? "0s" : formatDuration(value / 1e6);
    return [
      {
        rule: "nanoseconds",
        severity: kind === "Policy" ? "warning" : "error",
        path,
        reason: `${value} counts nanoseconds, as old Policy files did; v1 takes a duration with a unit and refuses numbers`,
        mend: `Write ${path.at(-1)}: ${wanted}.`,
      },
    ];
  }
  if (typeof value === "string" && parseDuration(value) !== undefined) return [];
  const mend = `Write a number with a unit, such as ${path.at(-1)}: 1s.`;
  return [
    { rule: "duration", severity: "error", path, reason: "is no duration: kube-scheduler refuses the file", mend },
  ];
}
