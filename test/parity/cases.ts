import fc from "fast-check";
import type { Json, JsonObject } from "../../src/protocol/json.ts";
import type { PluginQuestion } from "../controlplane/plugins.ts";
import { nodeAffinity, nodeSelector, preferredTerms, requiredTerms } from "./affinities.ts";
import { GPU, requests, resourceStatus, sometimes, withoutGaps } from "./resources.ts";

const NODES = ["n-0", "n-1", "n-2", "n-3", "n-4", "n-5"];

const taint = fc.record({
  key: fc.constantFrom("a", "b", "node.kubernetes.io/unschedulable"),
  value: fc.constantFrom("", "1", "2"),
  effect: fc.constantFrom("NoSchedule", "NoExecute", ...new Array<string>(6).fill("PreferNoSchedule")),
});

const value = fc.constantFrom("a", "b", "c");

const toleration = fc.oneof(
  fc.record({
    key: fc.constantFrom("a", "b", "node.kubernetes.io/unschedulable"),
    operator: fc.constantFrom("Equal", "Exists", "Gt", "Lt", ""),
    value: fc.constantFrom("", "0", "1", "2"),
    effect: fc.constantFrom("", "NoSchedule", "NoExecute", "PreferNoSchedule"),
  }),
  fc.record({ operator: fc.constant("Exists") }),
);

const port = fc.record(
  {
    containerPort: fc.constantFrom(80, 53),
    hostPort: fc.constantFrom(80, 53, 8080),
    hostIP: fc.constantFrom("", "0.0.0.0", "10.0.0.1", "10.0.0.2"),
    protocol: fc.constantFrom("TCP", "UDP"),
  },
  { requiredKeys: ["containerPort"] },
);

const container = (name: string) =>
  fc.record(
    {
      name: fc.constant(name),
      resources: fc.record({ requests, limits: requests }, { requiredKeys: [] }),
      ports: fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(port, { maxLength: 2 }) },
      ),
    },
    { requiredKeys: ["name"] },
  );

const initContainers = fc.tuple(
  ...["i0", "i1"].map((name) =>
    fc.record({ container: container(name), restartPolicy: sometimes(fc.constant("Always"), 1, 1) }),
  ),
);

const spec = fc
  .record(
    {
      containers: fc.subarray(["c0", "c1", "c2"], { minLength: 1 }).chain((names) => fc.tuple(...names.map(container))),
      initContainers: sometimes(initContainers, 1, 2),
      overhead: sometimes(requests, 1, 6),
      resources: sometimes(fc.record({ requests, limits: requests }, { requiredKeys: [] }), 1, 3),
      hostNetwork: fc.constantFrom(true, false, false, false),
      tolerations: fc.array(toleration, { maxLength: 3 }),
    },
    { requiredKeys: ["containers"] },
  )
  .map(
    ({ initContainers, overhead, resources, ...rest }): JsonObject => ({
      ...rest,
      ...(initContainers && {
        initContainers: initContainers.map(({ container, restartPolicy }) => ({
          ...container,
          ...(restartPolicy && { restartPolicy }),
        })),
      }),
      ...(overhead && { overhead }),
      ...(resources && { resources }),
    }),
  );

/** A pod that waits for a node. */
const pending: fc.Arbitrary<JsonObject> = fc
  .record({
    spec,
    status: sometimes(resourceStatus, 1, 6),
    nodeName: sometimes(fc.constantFrom(...NODES), 1, 25),
    nodeSelector: sometimes(nodeSelector, 1, 5),
    required: sometimes(requiredTerms(NODES), 1, 3),
    preferred: sometimes(preferredTerms(NODES), 1, 1),
  })
  .map(({ spec, status, nodeName, nodeSelector, required, preferred }) => ({
    metadata: { name: "pending", namespace: "default", uid: "pending" },
    spec: {
      ...spec,
      ...(nodeName && { nodeName }),
      ...(nodeSelector && { nodeSelector }),
      ...nodeAffinity(required, preferred),
    },
    ...(status && { status }),
  }));

const placed = fc.record({ spec, status: sometimes(resourceStatus, 1, 2), nodeName: fc.constantFrom(...NODES) });

const node = (name: string): fc.Arbitrary<JsonObject> =>
  fc
    .record({
      labels: fc.record({ zone: value, disk: value }, { requiredKeys: [] }),
      cores: sometimes(fc.constantFrom("2", "8", "16", "many"), 3, 1),
      allocatable: fc
        .record({
          cpu: sometimes(fc.constantFrom("0", "900m", "4", "7910m", "16", "16"), 8, 1),
          memory: sometimes(fc.constantFrom("0", "512Mi", "15634849792", "64Gi", "64Gi"), 8, 1),
          pods: fc.constantFrom("2", "4", "110", "110"),
          "ephemeral-storage": sometimes(fc.constantFrom("17060071478", "100Gi"), 4, 1),
          [GPU]: sometimes(fc.constantFrom("0", "1", "4"), 2, 1),
          "hugepages-2Mi": sometimes(fc.constantFrom("0", "128Mi", "1Gi"), 2, 1),
        })
        .map(withoutGaps),
      taints: sometimes(fc.array(taint, { maxLength: 4 }), 1, 2),
      unschedulable: fc.constantFrom(true, ...new Array<boolean>(9).fill(false)),
    })
    .map(({ labels, cores, allocatable, taints, unschedulable }) => ({
      metadata: { name, labels: { ...labels, ...(cores && { cores }) } },
      spec: { ...(taints && { taints }), ...(unschedulable && { unschedulable }) },
      status: { allocatable, capacity: allocatable },
    }));

const resources = fc.subarray(["cpu", "memory", "ephemeral-storage", GPU, "hugepages-2Mi"], { minLength: 1 });
const weighted = resources.chain((names) =>
  fc.tuple(...names.map((name) => fc.record({ name: fc.constant(name), weight: fc.integer({ min: 1, max: 100 }) }))),
);
const shape = fc
  .subarray([0, 20, 45, 50, 80, 100], { minLength: 1 })
  .chain((points) =>
    fc.tuple(
      ...points.map((utilization) =>
        fc.record({ utilization: fc.constant(utilization), score: fc.integer({ min: 0, max: 10 }) }),
      ),
    ),
  );
const scoringStrategy: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: fc.constantFrom("LeastAllocated", "MostAllocated"), resources: weighted }),
  fc.record({
    type: fc.constant("RequestedToCapacityRatio"),
    resources: weighted,
    requestedToCapacityRatio: fc.record({ shape }),
  }),
);
const args: fc.Arbitrary<Record<string, JsonObject>> = fc
  .record({
    scoringStrategy: sometimes(scoringStrategy, 2, 1),
    ignoredResources: sometimes(fc.constant([GPU]), 1, 5),
    ignoredResourceGroups: sometimes(fc.constant(["example.com"]), 1, 8),
    balanced: sometimes(resources, 1, 1),
    required: sometimes(requiredTerms(NODES), 1, 9),
    preferred: sometimes(preferredTerms(NODES), 1, 6),
  })
  .map(({ balanced, required, preferred, ...fit }) => ({
    NodeResourcesFit: withoutGaps<Json>(fit),
    NodeResourcesBalancedAllocation: balanced ? { resources: balanced.map((name) => ({ name, weight: 1 })) } : {},
    NodeAffinity: addedAffinity(required, preferred),
  }));

function addedAffinity(required: JsonObject[] | undefined, preferred: JsonObject[] | undefined): JsonObject {
  // kube-scheduler refuses an empty list when it starts.
  const { affinity } = nodeAffinity(required?.length ? required : undefined, preferred);
  return affinity ? { addedAffinity: affinity["nodeAffinity"] as JsonObject } : {};
}

/** A pod, six nodes with pods on them, and arguments of the plugins. */
export const question: fc.Arbitrary<PluginQuestion> = fc
  .record({ pod: pending, pods: fc.array(placed, { maxLength: 12 }), nodes: fc.tuple(...NODES.map(node)), args })
  .map(({ pods, ...rest }) => ({
    ...rest,
    pods: pods.map(({ spec, status, nodeName }, index) => ({
      metadata: { name: `placed-${index}`, namespace: "default", uid: `placed-${index}` },
      spec: { ...spec, nodeName },
      ...(status && { status }),
    })),
  }));
