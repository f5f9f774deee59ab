/** What a kube-scheduler at `-v=10` logs about the scoring of one pod; empty for a pod that was never scored. */
export interface LoggedScores {
  /** By node, then by in-tree plugin, with the plugin's weight in it. */
  readonly plugins: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** By node: the sum of the in-tree plugins. */
  readonly inTree: Readonly<Record<string, number>>;
  /** By node: what the extenders answered, 0…10, as it came. */
  readonly extender: Readonly<Record<string, number>>;
  /** By node: what kube-scheduler compares. */
  readonly total: Readonly<Record<string, number>>;
}

const line =
  /"(Plugin|Extender) scored node for pod" pod="([^"]+)" (?:plugin|extender)="([^"]*)" node="([^"]+)" score=(\d+)/;
const final = /"Calculated node's final score for pod" pod="([^"]+)" node="([^"]+)" score=(\d+)/;

/** Reads the scores of a pod (`<namespace>/<name>`) from a log. Source: v1.37.2 `pkg/scheduler/schedule_one.go`, prioritizeNodes. */
export function loggedScores(log: string, pod: string): LoggedScores {
  const plugins: Record<string, Record<string, number>> = {};
  const extender: Record<string, number> = {};
  const total: Record<string, number> = {};
  for (const text of log.split("\n")) {
    const [, kind, of, name = "", node = "", score] = line.exec(text) ?? [];
    if (of === pod && kind === "Plugin") plugins[node] = { ...plugins[node], [name]: Number(score) };
    if (of === pod && kind === "Extender") extender[node] = Number(score);
    const [, totalOf, totalNode = "", totalScore] = final.exec(text) ?? [];
    if (totalOf === pod) total[totalNode] = Number(totalScore);
  }
  const sums = Object.entries(plugins).map(([node, scores]) => [node, sum(Object.values(scores))] as const);
  return { plugins, extender, total, inTree: Object.fromEntries(sums) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
