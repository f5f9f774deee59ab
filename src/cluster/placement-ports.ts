import { REVOKED_ANNOTATION } from "../placement/placed.ts";
import type {
  BindingOrder,
  Conflict,
  Gone,
  LedgerPort,
  PlacementPorts,
  PodPort,
  PodsFound,
  ReadOutcome,
  Rejected,
  RevocationOrder,
  Unknown,
  WriteOutcome,
} from "../placement/ports.ts";
import { field, isObject, type JsonObject } from "../protocol/json.ts";
import type { Answer, Failure } from "./answer.ts";
import type { Connection } from "./connection.ts";
import { patchObject } from "./patch.ts";
import { collectionPath, NODE_LEDGERS, objectPath, PODS, resourceName } from "./resources.ts";

/** How the ports talk to the API server. */
export interface PlacementPortsOptions {
  /** Deadline of each call in milliseconds, well below the five seconds kube-scheduler waits for a bind. Default 2,500. */
  readonly within?: number;
}

/** What placement needs of the API server, over a connection. Each write is sent at most once. */
export function placementPorts(connection: Connection, { within = 2_500 }: PlacementPortsOptions = {}): PlacementPorts {
  return { ...podPort(connection, within), ...ledgerPort(connection, within) };
}

function podPort(connection: Connection, within: number): PodPort {
  return {
    async readPod(pod) {
      return reading(await connection.call({ method: "GET", path: objectPath(PODS, pod), within }));
    },
    listPodsOnNode: (nodeName) => listPods(connection, nodeName, within),
    async postBinding(order) {
      const path = objectPath(PODS, order, "binding");
      // The answer is a Status although the API names a Binding: only the HTTP status says what became of it.
      const answer = await connection.call({ method: "POST", path, body: binding(order), within, statusOnly: true });
      return answer.kind === "ok" ? { kind: "bound" } : failed(answer);
    },
    async markRevoked(order) {
      const answer = await revoke(connection, order, within);
      return answer.kind === "ok" ? { kind: "patched" } : failed(answer);
    },
  };
}

function binding({ namespace, name, uid, resourceVersion, nodeName, annotations }: BindingOrder): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { namespace, name, uid, ...(resourceVersion !== undefined && { resourceVersion }), annotations },
    target: { apiVersion: "v1", kind: "Node", name: nodeName },
  };
}

function revoke(connection: Connection, order: RevocationOrder, within: number): Promise<Answer> {
  const { claimId, ...pod } = order;
  const patch = { metadata: { annotations: { [REVOKED_ANNOTATION]: claimId } } };
  return patchObject(connection, { resource: PODS, ...pod, patch, within, statusOnly: true });
}

/** Without `resourceVersion`, and so as fresh as a GET. */
async function listPods(connection: Connection, nodeName: string, within: number): Promise<PodsFound | Unknown> {
  const pods: JsonObject[] = [];
  let next: string | undefined;
  do {
    const query = { fieldSelector: `spec.nodeName=${nodeName}`, limit: 500, continue: next };
    const answer = await connection.call({ method: "GET", path: collectionPath(PODS), query, within });
    if (answer.kind !== "ok") return { kind: "unknown", message: answer.message };
    const items = itemsOf(answer.object);
    if (items === undefined) return { kind: "unknown", message: `the list of pods on node ${nodeName} is unreadable` };
    pods.push(...items);
    const token = field(field(answer.object, "metadata"), "continue");
    next = typeof token === "string" && token !== "" ? token : undefined;
  } while (next !== undefined);
  return { kind: "pods", pods };
}

/** An empty list may have null for items; one without the field, or with something else among them, is no list. */
function itemsOf(list: JsonObject): readonly JsonObject[] | undefined {
  const items = field(list, "items");
  if (items === null) return [];
  return Array.isArray(items) && items.every(isObject) ? items : undefined;
}

function ledgerPort(connection: Connection, within: number): LedgerPort {
  const path = collectionPath(NODE_LEDGERS);
  return {
    async readLedger(name) {
      const answer = await connection.call({ method: "GET", path: objectPath(NODE_LEDGERS, { name }), within });
      return isUnserved(answer) ? { kind: "unknown", message: UNSERVED } : reading(answer);
    },
    createLedger: async (body) => writing(await connection.call({ method: "POST", path, body, within })),
    async updateLedger(body) {
      const name = String(field(field(body, "metadata"), "name"));
      return writing(await connection.call({ method: "PUT", path: objectPath(NODE_LEDGERS, { name }), body, within }));
    },
  };
}

const UNSERVED = `The API server does not serve ${resourceName(NODE_LEDGERS)}: apply infra/crd/nodeledgers.yaml.`;

/** A missing object is answered with a Status, a resource that nobody serves with plain text: no ledger ≠ no ledgers. */
function isUnserved(answer: Answer): boolean {
  return answer.kind === "notFound" && answer.reason !== "NotFound";
}

function reading(answer: Answer): ReadOutcome {
  if (answer.kind === "ok") return { kind: "found", object: answer.object };
  return isMissing(answer) ? { kind: "gone" } : { kind: "unknown", message: answer.message };
}

function writing(answer: Answer): WriteOutcome {
  if (isUnserved(answer)) return { kind: "rejected", status: 404, message: UNSERVED };
  return answer.kind === "ok" ? { kind: "written", object: answer.object } : failed(answer);
}

/** A claim is dropped when its pod is gone: the word of something between here and the API server is not enough. */
function isMissing(failure: Failure): boolean {
  return failure.kind === "notFound" && failure.reason === "NotFound";
}

function failed(failure: Failure): Conflict | Gone | Rejected | Unknown {
  const { kind, message } = failure;
  switch (kind) {
    case "conflict":
      return { kind: "conflict", message };
    case "notFound":
      return isMissing(failure) ? { kind: "gone" } : { kind: "unknown", message };
    case "unknown":
      return { kind: "unknown", message };
    default:
      return { kind: "rejected", status: failure.status, message };
  }
}
