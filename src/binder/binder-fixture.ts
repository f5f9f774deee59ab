import { createStore } from "../cluster/store.ts";
import { systemTiming } from "../cluster/timing.ts";
import type { Binder } from "../placement/bind.ts";
import { createFakeApi, type FakeApi } from "../placement/fake-api-fixture.ts";
import { type PodSketch, podObject } from "../placement/gpu-fixture.ts";
import { createLanes } from "../placement/lanes.ts";
import { writeLedger } from "../placement/ledger.ts";
import type { Claim } from "../placement/model.ts";
import { placedNode, placedPod } from "../placement/placed.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import { deviceContract } from "./bind.ts";
import { gpusharePolicy, noFacts } from "./gpushare.ts";
import type { LivePolicy } from "./live.ts";
import { livePolicies } from "./policies.ts";
import { createState, type State } from "./state.ts";

/** What the watches of a test's binder show, as the test says. */
export interface Watched {
  readonly state: State;
  /** What the binder warned of. */
  readonly warnings: string[];
  pod(sketch: PodSketch): JsonObject;
  podGone(object: JsonObject): void;
  /** A node of so many devices with so much memory together. */
  node(name: string, devices?: readonly [count: number, total: number]): JsonObject;
  nodeGone(object: JsonObject): void;
  unhealthy(node: string, gpus: string): void;
  healthy(node: string): void;
  ledger(node: string, claims: readonly Claim[], closedUntil?: number): void;
  /** The node's ledger is in the format of a release to come. */
  newerLedger(node: string): void;
  budget(object: JsonObject): void;
}

/** A cluster as a binder sees it, empty at first. */
export function watch(): Watched {
  const shelf = () =>
    createStore({
      resource: "objects",
      paths: ["metadata", "spec", "status", "data"],
      timing: systemTiming,
      warn: () => undefined,
    });
  const sources = { pods: shelf(), nodes: shelf(), unhealthy: shelf(), budgets: shelf(), ledgers: shelf() };
  const warnings: string[] = [];
  const state = createState({ sources, peek: () => undefined, log: (_, message) => void warnings.push(message) });
  let version = 1;
  const put = (to: keyof typeof sources, object: JsonObject): JsonObject => {
    const metadata = { ...(object["metadata"] as JsonObject), resourceVersion: String(++version) };
    const versioned = { ...object, metadata };
    sources[to].put(versioned);
    return versioned;
  };
  const configMap = (node: string, gpus: string): JsonObject => ({
    metadata: { namespace: "kube-system", name: `unhealthy-gpu-${node}` },
    data: { gpus },
  });
  return {
    state,
    warnings,
    pod: (sketch) => put("pods", podObject(sketch)),
    podGone: sources.pods.remove,
    node: (name, devices) => put("nodes", nodeObject(name, devices)),
    nodeGone: sources.nodes.remove,
    unhealthy: (node, gpus) => void put("unhealthy", configMap(node, gpus)),
    healthy: (node) => sources.unhealthy.remove(configMap(node, "")),
    ledger: (name, claims, closedUntil = 0) => void put("ledgers", ledgerObject(name, claims, closedUntil)),
    newerLedger: (name) => void put("ledgers", { metadata: { name, uid: `ledger-${name}` }, spec: { format: 2 } }),
    budget: (object) => void put("budgets", object),
  };
}

function nodeObject(name: string, devices?: readonly [count: number, total: number]): JsonObject {
  const [count, total] = devices ?? [0, 0];
  const gpus: Record<string, Json> = devices
    ? { "aliyun.com/gpu-count": String(count), "aliyun.com/gpu-mem": String(total) }
    : {};
  const amounts = { cpu: "8", memory: "32Gi", pods: "110", ...gpus };
  return { metadata: { name, uid: `node-${name}` }, status: { capacity: amounts, allocatable: amounts } };
}

function ledgerObject(nodeName: string, claims: readonly Claim[], closedUntil: number): JsonObject {
  const nodeUid = `node-${nodeName}`;
  const rest = { resourceVersion: "1", epoch: "one", lastAssumeTime: 1n };
  return writeLedger(
    { nodeName, nodeUid, ...rest, claims, closedUntil },
    { name: nodeName, uid: nodeUid, devices: [] },
  );
}

/** The built-in profile, joined with a cluster. */
export async function gpushareLive(state: State): Promise<LivePolicy> {
  const facts = noFacts();
  const profiles = new Map([["gpushare-scheduler", { policy: await gpusharePolicy(facts), facts }]]);
  const live = livePolicies(profiles, { state, now: () => 1_000 }).get("gpushare-scheduler");
  if (live === undefined) throw new Error("the built-in profile is missing");
  return live;
}

/** A binder's protocol on an API server in memory, with the node's ledger open. */
export function protocolOn(watched: Watched, nodeName: string): { readonly api: FakeApi; readonly protocol: Binder } {
  const api = createFakeApi();
  let ids = 0;
  const context = { ports: api.ports, clock: systemTiming, newId: () => `id-${++ids}`, placedPod };
  const object = watched.state.nodes.get(nodeName)?.object ?? {};
  const { name, uid, devices } = placedNode(object, new Set());
  const empty = { resourceVersion: "1", epoch: "one", closedUntil: 0, lastAssumeTime: 0n, claims: [] };
  api.putLedger(name, writeLedger({ nodeName: name, nodeUid: uid, ...empty }, { name, uid, devices }));
  return { api, protocol: { context, lanes: createLanes(context), contract: deviceContract(watched.state) } };
}
