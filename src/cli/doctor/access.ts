import type { Connection } from "../../cluster/connection.ts";
import { field } from "../../protocol/json.ts";
import { type Finding, ok, skipped, wrong } from "./finding.ts";

/** One thing that the binder does. */
interface Need {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verbs: readonly string[];
  /** Where, if not in all namespaces; `own`: where the binder runs. */
  readonly namespace?: "own" | "kube-system";
  readonly name?: string;
}

/** Everything that infra/binder/rbac.yaml grants, which is what the binder does. */
export const BINDER_NEEDS: readonly Need[] = [
  { group: "", resource: "pods", verbs: ["get", "list", "watch", "patch"] },
  { group: "", resource: "pods", subresource: "binding", verbs: ["create"] },
  { group: "", resource: "nodes", verbs: ["list", "watch", "patch"] },
  { group: "", resource: "nodes", subresource: "status", verbs: ["patch"] },
  { group: "policy", resource: "poddisruptionbudgets", verbs: ["list", "watch"] },
  { group: "berth.dev", resource: "nodeledgers", verbs: ["get", "list", "watch", "create", "update"] },
  { group: "events.k8s.io", resource: "events", verbs: ["create", "patch"] },
  { group: "", resource: "configmaps", verbs: ["list", "watch"], namespace: "kube-system" },
  { group: "coordination.k8s.io", resource: "leases", verbs: ["create"], namespace: "own" },
  {
    group: "coordination.k8s.io",
    resource: "leases",
    verbs: ["get", "update"],
    namespace: "own",
    name: "berth-binder",
  },
];

/** The service account that a binder runs as. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
}

const STEP = "RBAC";

/** Asks the API server what a binder's service account may do, with a SubjectAccessReview for each of its needs. */
export async function accessFinding(connection: Connection, account: Account): Promise<Finding> {
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  const questions = BINDER_NEEDS.flatMap((need) => need.verbs.map((verb) => ({ need, verb })));
  const answers = await Promise.all(questions.map((each) => allowed(connection, account, { ...each, user })));
  const unasked = answers.find((answer) => typeof answer === "string");
  if (typeof unasked === "string") {
    return skipped(STEP, `Not asked: ${unasked}`, "Use a kubeconfig that may create subjectaccessreviews.");
  }
  const missing = questions.filter((_, index) => answers[index] === false).map(({ need, verb }) => shown(need, verb));
  if (missing.length === 0) return ok(STEP, `${user} may do all that a binder does.`);
  return wrong(
    STEP,
    "failed",
    `${user} may not ${missing.join(", ")}.`,
    "Apply infra/binder of this release (rbac.yaml), or name the account that the binder runs as: --account.",
  );
}

function shown({ group, resource, subresource, namespace }: Need, verb: string): string {
  const what = `${resource}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
  return `${verb} ${what}${namespace === "kube-system" ? " in kube-system" : ""}`;
}

async function allowed(
  connection: Connection,
  account: Account,
  { need, verb, user }: { readonly need: Need; readonly verb: string; readonly user: string },
): Promise<boolean | string> {
  const { group, resource, subresource, name } = need;
  const namespace = need.namespace === "own" ? account.namespace : need.namespace;
  const resourceAttributes = {
    group,
    resource,
    verb,
    ...(subresource !== undefined && { subresource }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`, "system:authenticated"];
  const answer = await connection.call({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user, groups, resourceAttributes },
    },
  });
  return answer.kind === "ok" ? field(field(answer.object, "status"), "allowed") === true : answer.message;
}
