import Table from "cli-table3";
import { isObject, type Json } from "../../protocol/json.ts";
import type { Screen } from "../screen.ts";
import type { Explanation, NodePart, PluginPart } from "./explanation.ts";

type Paint = Screen["paint"];

/** Where nothing else limits lines, such as in a file, they are no longer than this. */
const WIDEST = 160;

/** One line on what was explained. */
export function explanationHeading({ pod, policy, source, boundTo, nodes }: Explanation, paint: Paint): string {
  const kept = nodes.filter(({ verdict }) => verdict === "kept").length;
  const bound = boundTo === undefined ? "" : `; it is on ${boundTo} already and judged as if it were not`;
  return `${paint("bold", `pod ${pod}`)} by ${policy}, ${source}${bound}\n${kept} of ${nodes.length} nodes kept`;
}

/** The nodes, best first: verdict, every reason, what each scoring plugin adds, and how far behind the best they are. */
export function explanationTable(
  nodes: readonly NodePart[],
  { paint, width }: Pick<Screen, "paint" | "width">,
): string {
  const scoring = scoringPlugins(nodes);
  const head = ["node", "verdict", ...scoring.map(({ plugin, weight }) => `${plugin} ×${weight}`), "mean", "score"];
  const table = new Table({
    head: [...head, "why"].map((title) => paint("bold", title)),
    colAligns: ["left", "left", ...scoring.map(() => "right" as const), "right", "right", "left"],
    style: { head: [], border: [], compact: true },
    wordWrap: true,
    colWidths: [...head.map(() => null), Math.max(24, Math.min(width, WIDEST) - narrow(nodes, head))],
  });
  for (const node of nodes) table.push(cells(node, scoring, paint));
  return table.toString();
}

/** How wide the columns before the last are, with what stands between them. */
function narrow(nodes: readonly NodePart[], head: readonly string[]): number {
  const names = Math.max(4, ...nodes.map(({ node }) => node.length)) + 3;
  return names + 11 + head.slice(2).reduce((sum, title) => sum + Math.max(title.length, 12) + 3, 0);
}

function scoringPlugins(nodes: readonly NodePart[]): readonly PluginPart[] {
  return nodes[0]?.plugins.filter(({ weight }) => weight !== null) ?? [];
}

function cells(node: NodePart, scoring: readonly PluginPart[], paint: Paint): string[] {
  const refused = node.verdict === "refused";
  const scores = scoring.map(({ plugin }) => scoreCell(node.plugins.find((each) => each.plugin === plugin)));
  return [
    node.best ? paint("bold", node.node) : node.node,
    paint(refused ? "red" : "green", node.verdict),
    ...scores,
    node.mean === null ? "" : short(node.mean),
    refused ? "" : String(node.score),
    whyText(node),
  ];
}

function whyText(node: NodePart): string {
  if (node.verdict === "refused") return reasonsText(node);
  return node.best ? "best" : gapText(node);
}

function scoreCell(part: PluginPart | undefined): string {
  if (part === undefined || part.weighted === null) return "";
  return part.raw === null ? "–" : `${short(part.raw)} → ${short(part.scaled ?? 0)}`;
}

function reasonsText({ reasons }: NodePart): string {
  return reasons
    .map(({ plugin, reason, unresolvable }) => `${plugin}: ${reason}${unresolvable ? " (for good)" : ""}`)
    .join("\n");
}

function gapText({ plugins }: NodePart): string {
  const behind = plugins.filter((part) => part.behind !== null && Math.abs(part.behind) >= 0.05);
  if (behind.length === 0) return "as good as the best";
  const sorted = [...behind].sort((one, other) => (other.behind ?? 0) - (one.behind ?? 0));
  return sorted
    .map(({ plugin, behind: by }) => `${plugin} ${(by ?? 0) > 0 ? "−" : "+"}${short(Math.abs(by ?? 0))}`)
    .join(", ");
}

/** How to read the table. */
export const EXPLANATION_LEGEND =
  "plugins: raw score → scaled to 0…100 over the kept nodes (–: nothing to say); mean: weighted, 0…100; score: 0…10, as\n" +
  "kube-scheduler gets it; why: points of the mean that each plugin costs (−) or gains (+) against the best node.";

/** All that is known of one node: facts and numbers of every plugin. */
export function nodeDetails(node: NodePart, paint: Paint): string {
  const lines = node.plugins.flatMap((part) => [
    `  ${paint("bold", part.plugin)}${scoreText(part)}`,
    ...part.reasons.map((reason) => `    ${paint("red", "refuses")}: ${reason}`),
    ...Object.entries(part.facts).map(([name, fact]) => `    ${name}: ${factText(fact)}`),
  ]);
  return [
    `${paint("bold", node.node)}: ${paint(node.verdict === "kept" ? "green" : "red", node.verdict)}`,
    ...lines,
  ].join("\n");
}

function scoreText({ weight, raw, scaled, weighted, behind }: PluginPart): string {
  if (weight === null || weighted === null) return "";
  if (raw === null) return ` ×${weight}: nothing to say`;
  const gap = behind === null ? "" : `, ${short(behind)} behind the best`;
  return ` ×${weight}: raw ${short(raw)}, scaled ${short(scaled ?? 0)}, adds ${short(weighted)} to the mean${gap}`;
}

/** Facts on one line; long maps keep their first entries. */
function factText(fact: Json | undefined): string {
  if (!isObject(fact)) return JSON.stringify(fact ?? null);
  const all = Object.entries(fact);
  const shown = all.slice(0, MOST_ENTRIES).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return shown.length === 0 ? "none" : shown.join(" ") + (all.length > MOST_ENTRIES ? ` … (${all.length} in all)` : "");
}

const MOST_ENTRIES = 12;

/** Three digits that matter. */
function short(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}
