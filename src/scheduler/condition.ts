import type { Connection } from "../cluster/connection.ts";
import { objectPath, PODS } from "../cluster/resources.ts";
import type { PlacedPod } from "../placement/model.ts";
import { field, type Json } from "../protocol/json.ts";

/** Why a pod has no node, as its condition `PodScheduled` says it. */
export type UnscheduledReason = "Unschedulable" | "SchedulerError";

/** Writes why a pod has no node where cluster autoscalers look for it. Gives what went wrong, or nothing. */
export type TellCondition = (pod: PlacedPod, reason: UnscheduledReason, message: string) => Promise<string | undefined>;

/**
 * Writes the condition as kube-scheduler does (`updatePod` in pkg/scheduler/schedule_one.go, v1.37.2), and only when
 * it says something new.
 *
 * @param now milliseconds since 1970
 */
export function conditionWriter(connection: Pick<Connection, "call">, now: () => number): TellCondition {
  return async (pod, reason, message) => {
    const known = conditionOf(pod);
    if (field(known, "reason") === reason && field(known, "message") === message) return undefined;
    const lastTransitionTime =
      field(known, "lastTransitionTime") ?? new Date(now()).toISOString().replace(/\.\d+Z/, "Z");
    const condition = { type: "PodScheduled", status: "False", reason, message, lastTransitionTime };
    const answer = await connection.call({
      method: "PATCH",
      path: objectPath(PODS, pod, "status"),
      // Conditions are merged by their type, so that nobody else's is touched.
      contentType: "application/strategic-merge-patch+json",
      body: { metadata: { uid: pod.uid }, status: { conditions: [condition] } },
      statusOnly: true,
    });
    return answer.kind === "ok" || answer.kind === "notFound" ? undefined : answer.message;
  };
}

/** The condition as it is, if it is `False`. */
function conditionOf({ object }: PlacedPod): Json | undefined {
  const conditions = field(field(object, "status"), "conditions");
  const own = (condition: Json) =>
    field(condition, "type") === "PodScheduled" && field(condition, "status") === "False";
  return Array.isArray(conditions) ? (conditions as readonly Json[]).find(own) : undefined;
}
