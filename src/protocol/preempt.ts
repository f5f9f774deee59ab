import { field, isObject, type Json, type JsonObject } from "./json.ts";
import { outerField, readObject } from "./outer.ts";
import { ShapeError } from "./scan.ts";

/** What kube-scheduler asks in preempt. */
export interface PreemptArgs {
  /** The pod that should get room, whole. */
  readonly pod: JsonObject;
  /** UIDs of the victims that kube-scheduler itself has chosen, by node name; a node can come without any. */
  readonly victims: ReadonlyMap<string, readonly string[]>;
}

/** A victim as the answer names it. */
export interface MetaPod {
  readonly UID: string;
}

/**
 * The victims of one node: at least one, for kube-scheduler ends the cycle with an error on an empty list
 * (`callExtenders` in pkg/scheduler/framework/preemption/preemption.go, v1.37.2).
 */
export interface MetaVictims {
  /** By falling priority: kube-scheduler takes the first for the highest. */
  readonly Pods: readonly [MetaPod, ...MetaPod[]];
  readonly NumPDBViolations: number;
}

/**
 * Reads the body of a preempt call: `ExtenderPreemptionArgs`, k8s.io/kube-scheduler `extender/v1/types.go` v0.37.2.
 *
 * Either form is taken: `NodeNameToVictims` with whole pods (`nodeCacheCapable: false`) and `NodeNameToMetaVictims`
 * with UIDs. The extender's own keys count in any casing. Victims that are missing, null or without UID are passed
 * over, so that a node can come out without any: a dry run without extenders can leave it so.
 *
 * @throws {ShapeError} when the body is not JSON, has no pod, or its map of nodes is no map
 */
export function readPreemptArgs(body: Uint8Array): PreemptArgs {
  const args = readObject(body);
  const pod = outerField(args, "Pod");
  if (pod === undefined) throw new ShapeError("Pod is missing");
  if (!isObject(pod)) throw new ShapeError("Pod must be an object");
  const victims = new Map<string, readonly string[]>();
  for (const key of ["NodeNameToVictims", "NodeNameToMetaVictims"]) {
    const nodes = outerField(args, key) ?? {};
    if (!isObject(nodes)) throw new ShapeError(`${key} must be an object`);
    for (const [node, list] of Object.entries(nodes)) victims.set(node, uidsOf(list));
  }
  return { pod, victims };
}

/**
 * The answer to preempt: `ExtenderPreemptionResult`, always with UIDs. Nodes that are not in it are no candidates.
 *
 * The types leave no room for null: a null entry crashes the kube-scheduler process (seen on 1.34.4 and 1.37.2;
 * `convertToVictims` in pkg/scheduler/extender.go reads through it).
 */
export function preemptAnswer(victims: ReadonlyMap<string, MetaVictims>): Uint8Array<ArrayBuffer> {
  // fromEntries defines own properties, also for a name such as __proto__.
  return new TextEncoder().encode(JSON.stringify({ NodeNameToMetaVictims: Object.fromEntries(victims) }));
}

function uidsOf(victims: Json | undefined): readonly string[] {
  const pods = outerField(victims, "Pods");
  if (!Array.isArray(pods)) return [];
  return (pods as readonly Json[]).flatMap((pod) => {
    const uid = field(field(pod, "metadata"), "uid") ?? outerField(pod, "UID");
    return typeof uid === "string" && uid !== "" ? [uid] : [];
  });
}
