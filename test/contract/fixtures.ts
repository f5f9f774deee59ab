/** The pod of most tests: 1 CPU and 1 GiB. */
export const POD = {
  metadata: { name: "web-0", namespace: "shop", uid: "0b8f3a52-6f0e-4a55-9d0c-0f6f1b1f7f10", labels: { app: "web" } },
  spec: { containers: [{ name: "web", resources: { requests: { cpu: "1", memory: "1Gi" } } }] },
};

/** What a node of a test is like. */
export interface NodeTraits {
  readonly type?: "small" | "large";
  readonly zone?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly allocatable?: unknown;
}

/**
 * A node's JSON text, in a spelling that no serialiser would give back: spaces, escapes, a number with a needless
 * fraction, fields that no version of Kubernetes knows.
 */
export function nodeText(name: string, { type, zone, labels = {}, allocatable }: NodeTraits = {}): string {
  const all = {
    "kubernetes.io/hostname": name,
    ...(type && { "node.kubernetes.io/instance-type": type }),
    ...(zone && { "topology.kubernetes.io/zone": zone }),
    ...labels,
  };
  const given = allocatable ?? { cpu: "4", memory: "16Gi", pods: "110" };
  return (
    `{ "metadata" :{"name":${JSON.stringify(name)},"labels":${JSON.stringify(all)},"managedFields":[{"f":{"k:{}":1.0}}]},` +
    `\t"spec": {"futureField":{"a":[1e2, -0.0, "\\u00e9\\/"]}},"status":{"allocatable":${JSON.stringify(given)},` +
    `"images": [ {"sizeBytes":12345678901234567890} ]}, "unknownField":null}`
  );
}

/**
 * The nodes of most tests and what profile `default` makes of them for {@link POD}. NodeLabel (weight 1) scores
 * zone-a 100 and zone-b 50; NodeCost (weight 3) is 0 for a node that is paid, 0.025 for a small and 0.1 for a large
 * one, which becomes 100, 75 and 0.
 */
export const NODES = {
  small: nodeText("small", { type: "small", zone: "zone-a" }),
  large: nodeText("large", { type: "large", zone: "zone-b" }),
  paid: nodeText("paid", { type: "large", zone: "zone-b", labels: { "berth.dev/commitment": "reserved" } }),
  unpriced: nodeText("unpriced"),
  retiring: nodeText("retiring", { type: "small", zone: "zone-a", labels: { "berth.dev/retiring": "" } }),
} as const;

/** `round(Σ weight·score / Σ weight / 10)`, 0 for the node that is refused. */
export const SCORES = [
  { Host: "small", Score: 8 },
  { Host: "large", Score: 1 },
  { Host: "paid", Score: 9 },
  { Host: "unpriced", Score: 0 },
  { Host: "retiring", Score: 0 },
];

/** Why NodeLabel refuses the retiring node. */
export const RETIRING = "node(s) had a label that the policy forbids";

/** The parts of a request that a test changes; JSON text stays as it is, everything else is written as JSON. */
export interface Parts {
  readonly pod?: unknown;
  readonly nodes?: readonly string[];
  readonly names?: readonly string[];
}

/** `ExtenderArgs` as kube-scheduler 1.37 writes them: absent parts are null, items have neither kind nor version. */
export function args({ pod = POD, nodes, names }: Parts = { nodes: Object.values(NODES) }): string {
  const list = nodes ? `{"metadata":{},"items":[${nodes.join(",")}]}` : "null";
  return `{"Pod":${JSON.stringify(pod)},"Nodes":${list},"NodeNames":${JSON.stringify(names ?? null)}}`;
}

/** The text of the nodes that came back in a filter answer. */
export function itemsText(answer: string): string {
  const start = '{"Nodes":{"metadata":{},"items":[';
  const end = answer.lastIndexOf(']},"NodeNames":null');
  if (!answer.startsWith(start) || end < 0) throw new Error(`no filter answer in nodes form: ${answer.slice(0, 200)}`);
  return answer.slice(start.length, end);
}

/** The headers of a decision. */
export const JSON_BODY = { "Content-Type": "application/json" };
