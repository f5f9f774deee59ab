import { pause, systemTiming } from "../cluster/timing.ts";
import { type Binder, bindPod, POLICY_ANNOTATION } from "../placement/bind.ts";
import type { Claim, PlacedNode, PlacedPod } from "../placement/model.ts";
import { readPod, standing } from "../placement/standing.ts";
import { field } from "../protocol/json.ts";

/** The annotation that names the process whose Binding took effect. */
export const BOUND_BY_ANNOTATION = "berth.dev/bound-by";

/**
 * How often a pod is looked at whose Binding was not answered, and how long between the times, in milliseconds: longer
 * than an API server takes to restart, or a Binding that took effect just before would never be told of.
 */
const LOOKS = 45;
const BETWEEN = 1_000;

/** What came of a bind. */
export type Bound =
  /** `ours`: a Binding of this very process did it. */
  | { readonly kind: "bound"; readonly ours: boolean; readonly claim?: Claim }
  /** `over`: no Binding will ever bring this pod to a node: it is gone, ended or on another node. */
  | { readonly kind: "failed"; readonly message: string; readonly over: boolean };

/** Who binds. */
export interface Bind {
  readonly protocol: Binder;
  /** Of this process, different for every start. */
  readonly identity: string;
  /** Aborted when nobody waits for what came of a Binding any more. */
  readonly leaving?: AbortSignal;
}

/** Where a pod goes, and by which policy: `<profile>@<version>`. */
export interface Destination {
  readonly node: PlacedNode;
  readonly policy: string;
}

/**
 * Binds a pod, with a device where it asks for one. When the answer to its Binding was lost, or another answer says
 * that the pod was bound already, the pod itself tells whose Binding it was: one Binding, and one event, whoever else
 * tries at the same time, and however often a network delivers.
 */
export async function bindTo(bind: Bind, pod: PlacedPod, { node, policy }: Destination): Promise<Bound> {
  const { namespace, name, uid } = pod;
  const annotations = { [POLICY_ANNOTATION]: policy, [BOUND_BY_ANNOTATION]: bind.identity };
  const answer = await bindPod(bind.protocol, { namespace, name, uid, node, annotations, seen: pod });
  if (answer.kind === "refused") {
    return { kind: "failed", message: `${answer.reason} (${answer.detail})`, over: OVER.has(answer.cause) };
  }
  const { claim } = answer;
  if (answer.kind === "bound" && answer.byThis) return { kind: "bound", ours: true, ...(claim && { claim }) };
  const lost = answer.kind === "unknown" ? `${answer.reason} (${answer.detail})` : "";
  return look(bind, { pod, node: node.name, lost, ...(claim && { claim }) });
}

const OVER: ReadonlySet<string> = new Set(["gone", "replaced", "ended", "elsewhere"]);

interface Lost {
  readonly pod: PlacedPod;
  readonly node: string;
  /** What is known of the answer; empty when the pod is known to be on the node. */
  readonly lost: string;
  readonly claim?: Claim;
}

const NEVER = new AbortController().signal;

async function look({ protocol, identity, leaving = NEVER }: Bind, { pod, node, lost, claim }: Lost): Promise<Bound> {
  let read = await readPod(protocol.context, pod);
  for (let looks = 1; read.kind === "unknown" && looks < LOOKS && !leaving.aborted; looks++) {
    await pause(systemTiming, BETWEEN, leaving);
    read = await readPod(protocol.context, pod);
  }
  const stands =
    read.kind === "unknown" ? undefined : standing(read.kind === "pod" ? read.pod : undefined, pod.uid, node);
  if (read.kind === "pod" && stands === "here") {
    const annotations = field(field(read.pod.object, "metadata"), "annotations");
    const ours = field(annotations, BOUND_BY_ANNOTATION) === identity;
    return { kind: "bound", ours, ...(ours && claim && { claim }) };
  }
  if (lost === "") return { kind: "bound", ours: false };
  return { kind: "failed", message: lost, over: stands === "over" };
}
