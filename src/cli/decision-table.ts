import Table from "cli-table3";
import type { DecisionReport, NodeDecision, PluginScore } from "./decision.ts";
import type { Screen } from "./screen.ts";

/** Reasons are wrapped to no less than this many characters. */
const NARROWEST_REASON = 14;

/**
 * A decision as a table: the nodes that were kept, best first, then those that were refused. Where the terminal is
 * too narrow, nodes lose the domain that they share and reasons are wrapped.
 */
export function decisionTable(report: DecisionReport, { paint, width }: Pick<Screen, "paint" | "width">): string {
  const nodes = [...report.nodes].sort(
    (left, right) => Number(isRefused(left)) - Number(isRefused(right)) || right.score - left.score,
  );
  const render = (rows: readonly NodeDecision[], reasonWidth: number | null) => {
    const table = new Table({
      head: headOf(report).map((title) => paint("bold", title)),
      colAligns: ["left", "left", "left", ...(rows[0]?.plugins ?? []).map(() => "right" as const), "right"],
      colWidths: [null, null, reasonWidth],
      wordWrap: true,
      style: { head: [], border: [], compact: true },
    });
    const best = Math.max(...rows.map(({ score }) => score));
    for (const row of rows) table.push(cells(row, best, paint));
    return table.toString();
  };
  const wide = render(nodes, null);
  if (lineWidth(wide) <= width) return wide;
  const short = withoutSharedDomain(nodes);
  const excess = lineWidth(render(short, null)) - width;
  const reason = Math.max(...short.map((node) => reasonCell(node).length)) + PADDING;
  return render(short, excess > 0 ? Math.max(NARROWEST_REASON, reason - excess) : null);
}

/** What cli-table3 puts around a cell's text. */
const PADDING = 2;

function headOf(report: DecisionReport): string[] {
  const columns = report.nodes[0]?.plugins ?? [];
  return ["node", "verdict", "reason", ...columns.map(({ plugin, weight }) => `${plugin} ×${weight}`), "score"];
}

/** The first line of a table is its border, without colours. */
function lineWidth(table: string): number {
  return table.indexOf("\n");
}

function withoutSharedDomain(nodes: readonly NodeDecision[]): readonly NodeDecision[] {
  const domains = new Set(nodes.map(({ node }) => node.replace(/^[^.]*/, "")));
  return domains.size === 1 ? nodes.map((each) => ({ ...each, node: each.node.replace(/\..*/, "") })) : nodes;
}

/** One line on what the table is of. */
export function decisionHeading({ pod, nodes }: DecisionReport): string {
  return `pod ${pod}, ${nodes.length} nodes, in a request recorded from kube-scheduler 1.37.2`;
}

/** One line on which policy it was and how long it took. */
export function decisionFooter({ policy, milliseconds: { filter, prioritize } }: DecisionReport): string {
  return (
    `policy ${policy}; answered in ${filter + prioritize} ms (filter ${filter} ms, prioritize ${prioritize} ms)\n` +
    "plugins: raw score → scaled to 0…100, × weight (–: has nothing to say); score: 0…10, for kube-scheduler"
  );
}

function isRefused({ verdict }: NodeDecision): boolean {
  return verdict === "refused";
}

function cells(decision: NodeDecision, best: number, paint: Screen["paint"]): string[] {
  const { node, verdict, plugins, score } = decision;
  const refused = isRefused(decision);
  const isBest = !refused && score === best;
  return [
    isBest ? paint("bold", node) : node,
    paint(refused ? "red" : "green", verdict),
    reasonCell(decision),
    ...plugins.map((each) => (refused ? "" : pluginCell(each))),
    isBest ? paint(["bold", "green"], String(score)) : String(score),
  ];
}

function reasonCell({ refusal }: NodeDecision): string {
  return refusal ? `${refusal.plugin}: ${refusal.reason}` : "";
}

function pluginCell({ raw, scaled }: PluginScore): string {
  return raw === null ? "–" : `${shortNumber(raw)} → ${Math.round(scaled ?? 0)}`;
}

/** Three digits that matter. */
function shortNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}
