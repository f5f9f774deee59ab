import { field, type JsonObject } from "../../../protocol/json.ts";
import { formatDuration } from "../../kube-scheduler/duration.ts";
import { type Extender, extendersOf, profilesOf } from "../../kube-scheduler/extender.ts";
import type { Remark, Rule } from "../finding.ts";

/** What one pod can cost when every extender hangs. */
export interface WorstCase {
  readonly seconds: number;
  readonly podsPerSecond: number;
}

/**
 * Filters are asked one after the other, then all prioritize at once, and pods come one by one: so long one pod can
 * hold up all others. Undefined without extenders that do either.
 */
export function worstCase(value: JsonObject): WorstCase | undefined {
  const extenders = extendersOf(value);
  const filters = extenders.filter(({ verbs }) => verbs.filter).reduce((sum, { timeoutMs }) => sum + timeoutMs, 0);
  const scores = Math.max(0, ...extenders.filter(({ verbs }) => verbs.prioritize).map(({ timeoutMs }) => timeoutMs));
  const seconds = (filters + scores) / 1000;
  return seconds === 0 ? undefined : { seconds, podsPerSecond: 1 / seconds };
}

/** A timeout beyond this holds up a scheduler for longer than its own default. */
const LONG_MS = 5_000;

/** What happens while an extender is slow or away. */
export const cost: Rule = ({ kind, value }) => {
  const extenders = extendersOf(value);
  const rejects = extenders.some(({ verbs }) => verbs.filter);
  return [
    ...total(value),
    ...extenders.flatMap((extender) => [...slow(extender), ...stalls(extender)]),
    ...(rejects && kind !== "Policy" ? [...sampled(value), ...backoff(value)] : []),
    ...(rejects ? [AUTOSCALERS] : []),
  ];
};

function total(value: JsonObject): Remark[] {
  const worst = worstCase(value);
  if (worst === undefined) return [];
  const rate = Number(worst.podsPerSecond.toPrecision(2));
  return [
    {
      rule: "worst-case",
      severity: "note",
      path: ["extenders"],
      reason: `if every extender hangs, a pod that concerns them takes ${formatDuration(worst.seconds * 1000)} (timeout × verbs), one pod after the other: ${rate} pods/s for the whole scheduler`,
      mend: "Set a short httpTimeout; managedResources keep other pods away from an extender.",
    },
  ];
}

function slow({ index, entry, timeoutMs, verbs, ignorable, resources }: Extender): Remark[] {
  if (timeoutMs <= LONG_MS || !(verbs.filter || verbs.prioritize)) return [];
  const verbsAsked = Number(verbs.filter) + Number(verbs.prioritize);
  const each = formatDuration(timeoutMs * verbsAsked);
  const who = resources.length > 0 ? "each pod that asks for one of its resources" : "every pod";
  const then = verbs.filter && !ignorable ? ", and those pods stay pending" : "";
  return [
    {
      rule: "long-timeout",
      severity: "warning",
      path: ["extenders", index, entry["httpTimeout"] === undefined ? "urlPrefix" : "httpTimeout"],
      reason: `while it hangs, ${who} holds up all others for ${each}${then}`,
      mend: "Set httpTimeout: 1s, or 5s for one that binds.",
    },
  ];
}

function stalls({ index, verbs, ignorable, resources, entry, shown }: Extender): Remark[] {
  if (!verbs.filter || ignorable) return [];
  const path = ["extenders", index, entry["ignorable"] === undefined ? "filterVerb" : "ignorable"];
  if (resources.length === 0) {
    const reason = `every pod needs ${shown}: while it is away nothing is scheduled, its own pods included`;
    const mend = verbs.bind
      ? "Name managedResources if it concerns some pods only; have another scheduler, or the host, run the extender itself."
      : "Set ignorable: true if the policy is a wish; or name managedResources.";
    return [{ rule: "stalls-all", severity: "warning", path, reason, mend }];
  }
  const reason = "pods that ask for one of its resources stay pending while it is away";
  return [{ rule: "stalls-some", severity: "note", path, reason, mend: "Nothing, if the policy must hold." }];
}

function sampled(value: JsonObject): Remark[] {
  const general = field(value, "percentageOfNodesToScore");
  return profilesOf(value).flatMap((profile, index): Remark[] => {
    const own = field(profile, "percentageOfNodesToScore");
    if ((own ?? general) === 100) return [];
    const path = own === undefined ? ["percentageOfNodesToScore"] : ["profiles", index, "percentageOfNodesToScore"];
    if (own === undefined && index > 0) return [];
    const reason =
      "above 100 nodes an extender that filters is asked about a sample: a pod can wait up to five minutes although a node would take it";
    return [{ rule: "sampled-nodes", severity: "warning", path, reason, mend: "Set percentageOfNodesToScore: 100." }];
  });
}

function backoff(value: JsonObject): Remark[] {
  const set = field(value, "podMaxBackoffSeconds");
  if (typeof set === "number" && set > 10) return [];
  return [
    {
      rule: "short-backoff",
      severity: "note",
      path: ["podMaxBackoffSeconds"],
      reason:
        "nearly every event of the cluster has each refused pod asked about again, after ten seconds of backoff at most",
      mend: "Set podMaxBackoffSeconds: 60, and start kube-scheduler with --feature-gates=SchedulerPopFromBackoffQ=false (1.33 and newer).",
    },
  ];
}

const AUTOSCALERS: Remark = {
  rule: "autoscalers",
  severity: "note",
  path: ["extenders"],
  reason:
    "Cluster Autoscaler and Karpenter do not see what extenders filter: a pod that only an extender refuses stays pending and no node is added",
  mend: "Express what new nodes must have in the pods as well (node affinity, tolerations).",
};
