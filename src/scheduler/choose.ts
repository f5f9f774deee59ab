import type { PlacedPod } from "../placement/model.ts";
import { columnsOf, type Policy } from "../policy/policy.ts";
import { weightedSums } from "../policy/rank.ts";
import type { Refusal } from "../policy/run.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { KnownNode } from "./cluster.ts";
import { createJudge, type JudgeSources, type PodJudge } from "./judge.ts";
import { fitMessage, NO_NODES } from "./reasons.ts";
import { enoughNodes, highest } from "./sampling.ts";

/** What came of the search for a node. */
export type Choice =
  | {
      readonly kind: "node";
      readonly node: KnownNode;
      /** The sum of the plugins' weighted scores that it won with. */
      readonly score: number;
      /** By what it was chosen: `<profile>@<version>`. */
      readonly policy: string;
      /** Nodes that fitted, of those that were looked at. */
      readonly fitting: number;
    }
  /** No node takes the pod, or none is there: it waits for a change. */
  | { readonly kind: "unfit"; readonly message: string; readonly refusals: readonly Refusal[] }
  /** It could not be judged: it is tried again. */
  | { readonly kind: "fault"; readonly message: string };

/** Extenders of an old Policy file, which are asked after the plugins. */
export interface Others {
  filter(
    pod: JsonObject,
    nodes: readonly JsonObject[],
  ): Promise<
    | { readonly kept: readonly JsonObject[]; readonly refused: ReadonlyMap<string, Refusal> }
    | { readonly error: string }
  >;
  /** To be added to the plugins' sums, by the node's name. */
  score(pod: JsonObject, nodes: readonly JsonObject[]): Promise<ReadonlyMap<string, number>>;
}

/** How nodes are chosen. */
export interface ChooserOptions extends JudgeSources {
  /** `percentageOfNodesToScore`; 0 lets kube-scheduler's formula choose. */
  readonly percentage: number;
  /** Decides between equally good nodes: from 0 up to 1. */
  random(): number;
  nodes(): readonly KnownNode[];
  /** Why a pod is not placed at all, whatever the nodes are like. */
  unjudged(pod: PlacedPod): string | undefined;
  /** Why a node that the policy takes is refused all the same. */
  barred(node: KnownNode, pod: PlacedPod): Refusal | undefined;
  readonly others?: Others;
  /** The policy with what its function says of this pod; absent where all its plugins are here. */
  withRows?(pod: JsonObject): Promise<Policy>;
}

/** Finds nodes for pods by one policy. */
export type Choose = (pod: PlacedPod) => Promise<Choice>;

/**
 * As kube-scheduler does it (`schedulePod`, `findNodesThatFitPod`, `prioritizeNodes` in pkg/scheduler/schedule_one.go,
 * v1.37.2): nodes are looked at from where the last search ended, until enough fit; the highest sum of weight × score
 * wins, one of several by chance.
 */
export function createChooser(policy: Policy, options: ChooserOptions): Choose {
  const { others, percentage } = options;
  const judge = createJudge(policy, options);
  const columns = columnsOf(policy);
  let start = 0;
  const search = async (pod: PlacedPod, judged: PodJudge): Promise<Choice> => {
    // Read again: the last node may have gone while the function was asked.
    const nodes = options.nodes();
    if (nodes.length === 0) return { kind: "unfit", message: NO_NODES, refusals: [] };
    // Without scores, the first node that fits is as good as any.
    const enough = columns.length === 0 && !others ? 1 : enoughNodes(percentage, nodes.length);
    const refusal = (node: KnownNode) => judged.refusal(node) ?? options.barred(node, pod);
    const found = look(nodes, { start, enough, refusal });
    start = (start + found.looked) % nodes.length;
    const left = await askOthers(pod, found, others);
    if ("message" in left) return left;
    const { fitting, refusals } = left;
    if (fitting.length === 0) return unfit(nodes.length, refusals);
    const sums = fitting.length === 1 ? [0] : weightedSums(columns, judged.scores(fitting));
    const totals = await addOthers(pod, { fitting, sums }, others);
    return { ...winner(fitting, totals, options.random), policy: `${policy.profile}@${policy.version}` };
  };
  return async (pod) => {
    const hopeless = options.unjudged(pod) ?? (options.nodes().length === 0 ? NO_NODES : undefined);
    if (hopeless !== undefined) return { kind: "unfit", message: hopeless, refusals: [] };
    const judged = judge(pod, await options.withRows?.(pod.object));
    return "fault" in judged ? { kind: "fault", message: judged.fault } : search(pod, judged);
  };
}

function winner(fitting: readonly KnownNode[], totals: readonly number[], random: () => number) {
  const best = highest(totals, random);
  const node = fitting[best] as KnownNode;
  return { kind: "node" as const, node, score: totals[best] ?? 0, fitting: fitting.length };
}

function unfit(nodes: number, refusals: readonly Refusal[]): Choice {
  const reasons = refusals.map((refusal) => refusal.reasons ?? [refusal.reason]);
  return { kind: "unfit", message: fitMessage(nodes, reasons), refusals };
}

interface Found {
  readonly fitting: readonly KnownNode[];
  readonly refusals: readonly Refusal[];
}

function look(
  nodes: readonly KnownNode[],
  search: {
    readonly start: number;
    readonly enough: number;
    refusal(node: KnownNode): Refusal | undefined;
  },
): Found & { readonly looked: number } {
  const fitting: KnownNode[] = [];
  const refusals: Refusal[] = [];
  let looked = 0;
  while (looked < nodes.length && fitting.length < search.enough) {
    const node = nodes[(search.start + looked) % nodes.length] as KnownNode;
    const refusal = search.refusal(node);
    if (refusal === undefined) fitting.push(node);
    else refusals.push(refusal);
    looked += 1;
  }
  return { fitting, refusals, looked };
}

async function askOthers(
  pod: PlacedPod,
  { fitting, refusals }: Found,
  others: Others | undefined,
): Promise<Found | Extract<Choice, { readonly kind: "fault" }>> {
  if (others === undefined || fitting.length === 0) return { fitting, refusals };
  const verdict = await others.filter(
    pod.object,
    fitting.map(({ node }) => node.object),
  );
  if ("error" in verdict) return { kind: "fault", message: verdict.error };
  const kept = new Set(verdict.kept);
  const more = fitting.flatMap(({ name }) => verdict.refused.get(name) ?? []);
  return { fitting: fitting.filter(({ node }) => kept.has(node.object)), refusals: [...refusals, ...more] };
}

async function addOthers(
  pod: PlacedPod,
  { fitting, sums }: { readonly fitting: readonly KnownNode[]; readonly sums: readonly number[] },
  others: Others | undefined,
): Promise<readonly number[]> {
  if (others === undefined || fitting.length === 1) return sums;
  const added = await others.score(
    pod.object,
    fitting.map(({ node }) => node.object),
  );
  return sums.map((sum, index) => sum + (added.get(fitting[index]?.name ?? "") ?? 0));
}
