import * as z from "zod";
import type { Decision } from "../../src/extender/decider.ts";
import { describeProfile } from "../../src/extender/describe.ts";
import { evaluateFacts } from "../../src/extender/evaluate.ts";
import { decideByFacts } from "../../src/extender/local.ts";
import { fleetLookup, objectLookup } from "../../src/policy/lookup.ts";
import { definePlugin } from "../../src/policy/plugin.ts";
import { nodeLabel } from "../../src/policy/plugins/node-label.ts";
import type { Policy, WhenAway } from "../../src/policy/policy.ts";
import { nodeAllocatable } from "../../src/policy/views/allocatable.ts";
import { nodeLabels, podLabels } from "../../src/policy/views/labels.ts";
import { podRequests } from "../../src/policy/views/pod-requests.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { Asker } from "../../src/remote/asker.ts";
import type { FunctionAnswer, FunctionRequest } from "../../src/remote/client.ts";
import { createFar, type Far } from "../../src/remote/far.ts";
import { standIn } from "../../src/remote/stand-in.ts";

/** A plugin that no registry has: pods go where their team has its racks, the emptier the better. */
export const rack = definePlugin({
  name: "Rack",
  version: 3,
  doc: "For tests.",
  maturity: "alpha",
  args: z.strictObject({}),
  scale: "range",
  reads: () => ({
    pod: { labels: podLabels, requests: podRequests },
    node: { labels: nodeLabels(["rack", "team"]), allocatable: nodeAllocatable },
  }),
  prepare: (_, { labels, requests }) => ({
    filter: (node) =>
      node.labels["team"] === labels["team"]
        ? undefined
        : { reason: "node(s) belonged to another team", unresolvable: true },
    score: ({ labels: { rack: place }, allocatable }) =>
      place === undefined
        ? undefined
        : Number(place) * Number(requests["cpu"] ?? 1n) + Number(allocatable["cpu"] ?? 0n),
  }),
});

export const FACTS = { apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts" } as const;

/** NodeLabel, which everybody has, before Rack, which only the function has. */
export function functionPolicy(version: string, whenAway: WhenAway = "skip"): Policy {
  const labels = { require: { pool: [] }, forbid: {}, prefer: { pool: ["a", "b"] } };
  const views = (spec: typeof rack | typeof nodeLabel, args: unknown) => {
    const {
      pod = {},
      node = {},
      around = {},
    } = (spec as typeof rack).reads(args as never, FACTS) as {
      pod?: object;
      node?: object;
      around?: object;
    };
    return { pod, node, around } as Policy["plugins"][number]["views"];
  };
  return {
    profile: "default",
    version,
    plugins: [
      { spec: nodeLabel, weight: 1, args: labels, views: views(nodeLabel, labels) },
      { spec: rack, weight: 3, args: {}, views: views(rack, {}), whenAway },
    ],
  };
}

/** The same policy as a process without Rack's code has it. */
export function relayPolicy(policy: Policy): Policy {
  const described = describeProfile(policy, FACTS).plugins;
  const plugins = policy.plugins.map((plugin, index) => {
    if (plugin.spec !== rack) return plugin;
    const stand = standIn(described[index] as never);
    if ("problem" in stand) throw new Error(stand.problem);
    return stand;
  });
  return { ...policy, plugins };
}

/** A function in this process, behind the client's interface. */
export function functionClient(policy: Policy) {
  const asked: JsonObject[] = [];
  const client = {
    asked,
    policy,
    /** What happens before a question is answered. */
    before: async (): Promise<void> => undefined,
    async ask({ body }: FunctionRequest): Promise<FunctionAnswer> {
      await client.before();
      const question = JSON.parse(String(body));
      asked.push(question);
      const answer = evaluateFacts(client.policy, fleetLookup(FACTS), question);
      const bytes = Buffer.from(JSON.stringify(answer));
      return { status: 200, headers: {}, body: bytes, bytes: bytes.length };
    },
  };
  return client;
}

/** An asker that gives what a function in this process answers, without a network and a clock. */
export function plainAsker(client: ReturnType<typeof functionClient>): Asker & { away: boolean } {
  const asker = {
    away: false,
    async ask(_: unknown, pod: JsonObject, nodes: readonly JsonObject[]) {
      const body = JSON.stringify({ protocol: 1, plugins: ["Rack"], pod, nodes });
      const answer = await client.ask({ path: "", body, timeoutMs: 1, maxBytes: 1 });
      if (asker.away) return undefined;
      const { rows } = JSON.parse(Buffer.from(answer.body).toString());
      return rows.map((row: { scores?: (number | null)[] }) =>
        row.scores ? { scores: row.scores.map((score) => score ?? undefined) } : row,
      );
    },
    isAway: () => asker.away,
    deadline: 1_000,
    elapsed: () => performance.now(),
    stop: () => undefined,
  };
  return asker;
}

/** What was counted. */
export interface Counts {
  remembered: number;
  asked: number;
  waiting: number;
  rejected: number;
}

export function farOn(policy: Policy, asker: Asker): { readonly far: Far; readonly counts: Counts } {
  const counts = { remembered: 0, asked: 0, waiting: 0, rejected: 0 };
  const far = createFar({
    policy,
    asker,
    metrics: {
      rows: (remembered, asked) => {
        counts.remembered += remembered;
        counts.asked += asked;
      },
      waiting: (change) => {
        counts.waiting += change;
      },
    },
    rejected: () => {
      counts.rejected += 1;
    },
  });
  if (far === undefined) throw new Error("the policy has nothing far");
  return { far, counts };
}

/** Decides as a host with whole objects does. */
export function decide(policy: Policy, pod: JsonObject, nodes: readonly JsonObject[]): Decision {
  const decision = decideByFacts(policy, "prioritize", {
    pod: objectLookup(pod, 0),
    nodes: nodes.map((node) => objectLookup(node, 0)),
    around: fleetLookup(FACTS),
  });
  if ("error" in decision) throw new Error(decision.error);
  return decision;
}

export function podOf(team: string, cpu = "1"): JsonObject {
  return {
    metadata: { name: "p", namespace: "default", uid: crypto.randomUUID(), labels: { team } },
    spec: { containers: [{ name: "c", resources: { requests: { cpu } } }] },
  };
}

export function nodeOf(name: string, labels: Readonly<Record<string, string>>, cpu = "8"): JsonObject {
  return {
    metadata: { name, labels: { ...labels, "kubernetes.io/hostname": name } },
    status: { allocatable: { cpu } },
  };
}
