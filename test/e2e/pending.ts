import type { ControlPlane } from "../controlplane/controlplane.ts";
import type { Node, Pod } from "../controlplane/objects.ts";

/** What is left of a node: millicores, mebibytes, pods. */
interface Room {
  readonly name: string;
  cpu: number;
  memory: number;
  pods: number;
}

/**
 * The pods that wait although a node has room for them, each with such a node. It counts by itself, with no line of what
 * it checks: cpu, memory and number of pods, for nodes without taints and pods that ask for nothing else.
 */
export async function wronglyPending({ api }: ControlPlane, schedulerName: string): Promise<string[]> {
  const [nodes, pods] = await Promise.all([
    api.list<Node>({ apiVersion: "v1", kind: "Node" }),
    api.list<Pod>({ apiVersion: "v1", kind: "Pod", namespace: "default" }),
  ]);
  const rooms = nodes.filter(({ spec }) => spec?.["unschedulable"] !== true).map(roomOf);
  for (const pod of pods) {
    const room = rooms.find(({ name }) => name === pod.spec.nodeName);
    if (room === undefined) continue;
    const { cpu, memory } = needsOf(pod);
    room.cpu -= cpu;
    room.memory -= memory;
    room.pods -= 1;
  }
  const overfull = rooms.filter(({ cpu, memory, pods: left }) => cpu < 0 || memory < 0 || left < 0);
  if (overfull.length > 0) throw new Error(`overfull: ${JSON.stringify(overfull)}`);
  const waiting = pods.filter(({ spec }) => spec.nodeName === undefined && spec["schedulerName"] === schedulerName);
  return waiting.flatMap((pod) => {
    const { cpu, memory } = needsOf(pod);
    const fits = rooms.find((room) => room.cpu >= cpu && room.memory >= memory && room.pods >= 1);
    return fits === undefined ? [] : [`${pod.metadata.name} fits on ${fits.name}`];
  });
}

function roomOf({ metadata, status }: Node): Room {
  const { cpu = "0", memory = "0", pods = "0" } = (status?.["allocatable"] ?? {}) as Record<string, string>;
  return { name: metadata.name, cpu: millicores(cpu), memory: mebibytes(memory), pods: Number(pods) };
}

function needsOf({ spec }: Pod): { readonly cpu: number; readonly memory: number } {
  const [app] = spec.containers as readonly { readonly resources?: { readonly requests?: Record<string, string> } }[];
  const { cpu = "0", memory = "0" } = app?.resources?.requests ?? {};
  return { cpu: millicores(cpu), memory: mebibytes(memory) };
}

function millicores(text: string): number {
  return text.endsWith("m") ? Number(text.slice(0, -1)) : Number(text) * 1_000;
}

function mebibytes(text: string): number {
  const amount = Number(text.slice(0, -2));
  if (text.endsWith("Gi")) return amount * 1_024;
  if (text.endsWith("Mi")) return amount;
  if (text === "0") return 0;
  throw new Error(`a test's memory is in Mi or Gi, not ${text}`);
}
