import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FleetFacts } from "./facts.ts";
import { type AnyPlugin, definePlugin } from "./plugin.ts";
import type { Policy } from "./policy.ts";
import { registry } from "./registry.ts";
import { prepare } from "./run.ts";
import type { Lookup, View } from "./view.ts";
import { devicesMessage, PUBLISHED_CONDITION } from "./views/devices.ts";
import { nodeUsage } from "./views/node-usage.ts";

const facts: FleetFacts = {
  apiVersion: "berth.dev/v1alpha1",
  kind: "FleetFacts",
  prices: [{ match: { type: "a" }, perHour: 1 }],
  commitments: [{ name: "reserved", match: { type: "b" } }],
  zones: { a: { closed: true }, b: { closed: false, carbon: 3 } },
};

/** Arguments under which a plugin has most to say; the defaults for plugins not named here. */
const talkative: Record<string, unknown> = {
  GpuMemory: { whenUnknown: "reject" },
  NodeCost: { unpriced: "reject" },
  NodeLabel: { require: { type: ["a", "b"] }, forbid: { zone: ["a"], retiring: [] }, prefer: { disk: ["x"] } },
};

const label = fc.constantFrom("a", "b", "c");
const labels = fc.dictionary(fc.constantFrom("type", "zone", "disk", "retiring", "topology.kubernetes.io/zone"), label);
const quantity = fc.constantFrom("4", "3920m", "16Gi", "0", "nonsense", "-1", "1e3");
const memory = fc.bigInt({ min: -1n, max: 12n });
const gpu = fc.record({ id: fc.constantFrom("0", "1"), total: memory, used: memory, healthy: fc.boolean() });
const published = fc.oneof(
  fc.constant("nonsense"),
  fc
    .record({ "aliyun.com/gpu-mem": fc.array(gpu, { maxLength: 3 }) })
    .map((devices) => devicesMessage({ generation: 1, devices })),
);
const condition = published.map((message) => ({ type: PUBLISHED_CONDITION, message }));
const usage = fc.record({
  pods: fc.nat(5),
  requested: fc.record({ cpu: fc.nat(4000), memory: fc.nat(2 ** 34) }),
  nonZero: fc.record({ cpu: fc.nat(4000), memory: fc.nat(2 ** 34) }),
  ports: fc.record({ "TCP/80": fc.subarray(["0.0.0.0", "10.0.0.1"]) }),
});
const taint = fc.record({ key: label, effect: fc.constantFrom("NoSchedule", "PreferNoSchedule", "NoExecute") });
const node = fc.record({
  metadata: fc.record({ name: fc.uuid(), labels }),
  spec: fc.record({ taints: fc.array(taint, { maxLength: 3 }), unschedulable: fc.boolean() }),
  usage,
  status: fc.record({
    allocatable: fc.dictionary(fc.constantFrom("cpu", "memory", "pods"), quantity),
    conditions: fc.array(condition, { maxLength: 1 }),
  }),
});
const limits = fc.dictionary(
  fc.constantFrom("aliyun.com/gpu-mem", "aliyun.com/gpu-count"),
  fc.constantFrom("0", "1", "4", "8", "25", "-1"),
);
const container = limits.map((limits) => ({
  resources: { requests: { cpu: "1", memory: "1Gi" }, limits },
  ports: [{ hostPort: 80 }],
}));
const terms = fc.array(
  fc.record({
    matchExpressions: fc.array(
      fc.record({
        key: fc.constantFrom("type", "zone"),
        operator: fc.constantFrom("In", "NotIn"),
        values: fc.tuple(label),
      }),
      { maxLength: 2 },
    ),
  }),
  { maxLength: 2 },
);
const nodeTerms = fc.record({
  requiredDuringSchedulingIgnoredDuringExecution: fc.record({ nodeSelectorTerms: terms }),
  preferredDuringSchedulingIgnoredDuringExecution: terms.map((list) =>
    list.map((preference, weight) => ({ weight, preference })),
  ),
});
const pod = fc.record({
  metadata: fc.record({ name: fc.uuid(), uid: fc.uuid() }),
  spec: fc.record(
    {
      containers: fc.array(container, { minLength: 1, maxLength: 3 }),
      nodeName: fc.uuid(),
      nodeSelector: fc.dictionary(fc.constantFrom("type", "zone"), label, { maxKeys: 1 }),
      affinity: fc.record({ nodeAffinity: nodeTerms }),
      tolerations: fc.array(fc.record({ key: label, operator: fc.constant("Exists") }), { maxLength: 2 }),
    },
    { requiredKeys: ["containers"] },
  ),
});

/** As a host that watches the cluster: what the pods of a node take stands beside the node. */
function lookup(object: object): Lookup {
  return <T>(view: View<T>) =>
    view.name === nodeUsage.name
      ? ((object as { usage: T }).usage as T)
      : (view.read as NonNullable<View<T>["read"]>)(object as never, 0);
}

/** How many reasons a plugin may give for one pod: three, or one per resource where no extender can ask it. */
function mostReasons(plugin: AnyPlugin): number {
  const views = Object.values(policyOf(plugin).plugins[0]?.views.node ?? {});
  return views.every(({ read }) => read !== undefined) ? 3 : 6;
}

function policyOf(spec: AnyPlugin): Policy {
  const args = spec.args.parse(talkative[spec.name] ?? {});
  const { pod = {}, node = {}, around = {} } = spec.reads(args, facts);
  return { profile: "p", version: "1", plugins: [{ spec, weight: 1, args, views: { pod, node, around } }] };
}

/** Every reason that a plugin gives for one pod over many nodes. */
function reasonsOf(spec: AnyPlugin, onePod: object, nodes: readonly object[]): Set<string> {
  const cycle = prepare(policyOf(spec), lookup(onePod), lookup(facts));
  if ("unreadable" in cycle) throw new Error(`unreadable pod: ${cycle.unreadable}`);
  return new Set(nodes.flatMap((each) => cycle.filter(lookup(each))?.reason ?? []));
}

describe.each(registry.map((plugin) => [plugin.name, plugin] as const))("plugin %s", (_, plugin) => {
  it("gives few reasons for one pod over any nodes, at most three where an extender can ask, none with a node's name", () => {
    fc.assert(
      fc.property(pod, fc.array(node, { minLength: 1, maxLength: 60 }), (onePod, nodes) => {
        const reasons = reasonsOf(plugin, onePod, nodes);
        expect(reasons.size).toBeLessThanOrEqual(mostReasons(plugin));
        for (const reason of reasons) for (const { metadata } of nodes) expect(reason).not.toContain(metadata.name);
      }),
    );
  });

  it("gives a row to every node, with finite or unknown scores, and the same row when asked again", () => {
    fc.assert(
      fc.property(pod, fc.array(node, { maxLength: 20 }), (onePod, nodes) => {
        const rows = () => {
          const cycle = prepare(policyOf(plugin), lookup(onePod), lookup(facts));
          if ("unreadable" in cycle) throw new Error(`unreadable pod: ${cycle.unreadable}`);
          return cycle.rows(nodes.map(lookup));
        };
        const first = rows();
        expect(first).toHaveLength(nodes.length);
        const scores = first.flatMap((row) => ("scores" in row ? row.scores : []));
        expect(scores.every((score) => score === undefined || Number.isFinite(score))).toBe(true);
        expect(rows()).toEqual(first);
      }),
    );
  });

  it("has a paragraph of documentation, a version and a name in the field's spelling", () => {
    expect(plugin.doc.length).toBeGreaterThan(80);
    expect(plugin.version).toBeGreaterThan(0);
    expect(plugin.name).toMatch(/^[A-Z][A-Za-z]+$/);
  });

  it("runs with no arguments at all", () => {
    expect(plugin.args.safeParse({}).success).toBe(true);
  });
});

describe("the reason test", () => {
  it("notices a plugin whose reasons name nodes", () => {
    const views = policyOf(registry.find(({ name }) => name === "Random") as AnyPlugin).plugins[0]?.views;
    const chatty = definePlugin({
      ...(registry[0] as AnyPlugin),
      name: "Chatty",
      reads: () => ({ node: { name: views?.node["name"] as View<string> } }),
      prepare: () => ({ filter: (each) => ({ reason: `${each["name"]} is full`, unresolvable: false }) }),
    });
    const nodes = ["a", "b", "c", "d"].map((name) => ({ metadata: { name } }));
    expect(reasonsOf(chatty, {}, nodes).size).toBe(4);
  });
});
