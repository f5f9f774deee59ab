import type { InspectedNode } from "../../placement/inspect.ts";
import type { Screen } from "../screen.ts";

/** Characters of a bar. */
const BAR = 20;

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/**
 * GPU memory per node and device as bars and numbers, with whoever holds it, in the cluster's own unit. What
 * `kubectl inspect gpushare` shows, and promises and pods without a device besides.
 */
export function gpuReport(nodes: readonly InspectedNode[], paint: Screen["paint"]): string {
  if (nodes.length === 0) return "no node has GPU memory (aliyun.com/gpu-mem) in its capacity";
  const used = sum(nodes.map(({ usedGPU }) => usedGPU));
  const total = sum(nodes.map(({ totalGPU }) => totalGPU));
  const parts = nodes.map((node) => [nodeLine(node, paint), ...node.devs.flatMap((dev) => deviceLines(dev, paint))]);
  return [...parts.map((lines) => lines.join("\n")), `${paint("bold", "all")}  ${numbers(used, total)}`].join("\n\n");
}

function nodeLine({ name, usedGPU, totalGPU }: InspectedNode, paint: Screen["paint"]): string {
  return `${paint("bold", name)}  ${bar(usedGPU, totalGPU, paint)} ${numbers(usedGPU, totalGPU)}`;
}

function deviceLines({ id, usedGPU, totalGPU, pods }: InspectedNode["devs"][number], paint: Screen["paint"]): string[] {
  const head = `  GPU ${id}  ${bar(usedGPU, totalGPU, paint)} ${numbers(usedGPU, totalGPU)}`;
  return [head, ...pods.map((pod) => `    ${String(pod.usedGPU).padStart(6)}  ${pod.namespace}/${pod.name}`)];
}

/** Red where more is used than there is, yellow where nothing is left to speak of. */
function bar(used: number, total: number, paint: Screen["paint"]): string {
  const share = total > 0 ? Math.min(1, Math.max(0, used / total)) : 0;
  const eighths = Math.round(share * BAR * 8);
  const full = "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  const color = used > total ? "red" : share >= 0.9 ? "yellow" : "green";
  return `${paint(color, full)}${"░".repeat(Math.max(0, BAR - full.length))}`;
}

function numbers(used: number, total: number): string {
  const percent = total > 0 ? ` (${Math.round((100 * used) / total)} %)` : "";
  return `${used}/${total}${percent}${used > total ? " more than there is" : ""}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
