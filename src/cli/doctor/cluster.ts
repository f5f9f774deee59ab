import type { Connection } from "../../cluster/connection.ts";
import { collectionPath, NODE_LEDGERS, NODES } from "../../cluster/resources.ts";
import { field, type Json, type JsonObject } from "../../protocol/json.ts";
import { entries } from "../kube-scheduler/extender.ts";
import { type Account, accessFinding } from "./access.ts";
import { extenderErrors } from "./events.ts";
import { type Finding, ok, skipped, wrong } from "./finding.ts";
import type { Target } from "./target.ts";

/** All nodes of the cluster, as kube-scheduler knows them, or why they cannot be had. */
export async function clusterNodes(connection: Connection): Promise<readonly JsonObject[] | string> {
  const answer = await connection.call({ method: "GET", path: collectionPath(NODES), within: 30_000 });
  return answer.kind === "ok" ? entries(field(answer.object, "items")) : answer.message;
}

/** What the cluster says of the binder, its ledgers, its devices, and of what kube-scheduler met. */
export async function clusterFindings(
  connection: Connection,
  {
    target,
    nodes,
    account,
  }: { readonly target: Target; readonly nodes: readonly JsonObject[]; readonly account: Account },
): Promise<Finding[]> {
  const usesBinder = target.verbs.bind !== undefined || target.verbs.preempt !== undefined;
  const binder = usesBinder ? [ledgers(connection), accessFinding(connection, account)] : [];
  return Promise.all([
    ...binder,
    ...target.resources.map((resource) => Promise.resolve(deviceFinding(resource, nodes))),
    eventsFinding(connection),
    autoscalerFinding(connection, target),
  ]);
}

async function ledgers(connection: Connection): Promise<Finding> {
  const step = "ledgers";
  const answer = await connection.call({ method: "GET", path: collectionPath(NODE_LEDGERS), query: { limit: 1 } });
  if (answer.kind === "ok") return ok(step, "nodeledgers.berth.dev is served.");
  if (answer.kind !== "notFound") return skipped(step, answer.message);
  return wrong(step, "failed", "The API server does not serve nodeledgers.berth.dev.", "kubectl apply -k infra/crd");
}

/** A resource that no node has is refused by kube-scheduler itself, before any extender is asked. */
function deviceFinding({ name, ignored }: Target["resources"][number], nodes: readonly JsonObject[]): Finding {
  const having = nodes.filter((node) => !["", "0"].includes(amount(field(node, "status"), name)));
  const step = "devices";
  if (having.length > 0) return ok(step, `${having.length} of ${nodes.length} nodes have ${name}.`);
  if (ignored) return ok(step, `No node has ${name}, which kube-scheduler leaves to the extender.`);
  return wrong(
    step,
    "failed",
    `No node has ${name}: kube-scheduler refuses every pod that asks for it, and never asks the extender.`,
    "See whether its device plugin runs on the nodes; where nothing advertises it, set ignoredByScheduler: true.",
  );
}

function amount(status: Json | undefined, resource: string): string {
  return String(field(field(status, "allocatable"), resource) ?? "");
}

async function eventsFinding(connection: Connection): Promise<Finding> {
  const step = "events";
  const query = { fieldSelector: "reason=FailedScheduling", limit: 500 };
  const answer = await connection.call({ method: "GET", path: "/api/v1/events", query, within: 15_000 });
  if (answer.kind !== "ok") return skipped(step, answer.message);
  const causes = extenderErrors(entries(field(answer.object, "items")));
  if (causes.length === 0) return ok(step, "No event of the last hour tells of an extender that failed.");
  const told = causes.map(({ cause, pods }) => `${cause} (${pods} pod${pods === 1 ? "" : "s"})`).join("; ");
  const mend = "Look at these pods with kubectl describe; the steps above say what is so now.";
  return wrong(step, "warning", `kube-scheduler has met: ${told}.`, mend);
}

/** Neither autoscaler asks extenders. */
async function autoscalerFinding(connection: Connection, target: Target): Promise<Finding> {
  const step = "autoscaler";
  const [karpenter, deployments] = await Promise.all([
    connection.call({ method: "GET", path: "/apis/karpenter.sh" }),
    connection.call({ method: "GET", path: "/apis/apps/v1/namespaces/kube-system/deployments", query: { limit: 500 } }),
  ]);
  const names = deployments.kind === "ok" ? entries(field(deployments.object, "items")).map(nameOf) : [];
  const found = [
    ...(karpenter.kind === "ok" ? ["Karpenter"] : []),
    ...(names.some((name) => name.includes("cluster-autoscaler")) ? ["Cluster Autoscaler"] : []),
  ];
  if (found.length === 0) return ok(step, "None was found.");
  if (target.verbs.filter === undefined) return ok(step, `${found.join(" and ")}; this extender refuses no node.`);
  return wrong(
    step,
    "warning",
    `${found.join(" and ")} does not ask extenders: a pod that the filter refuses stays pending on a cluster with room.`,
    "Leave refusals that an autoscaler should heal to labels, taints and requests, or leave filterVerb out.",
  );
}

function nameOf(object: JsonObject): string {
  return String(field(field(object, "metadata"), "name") ?? "");
}
