import { outerField, readObject } from "./outer.ts";
import { ShapeError } from "./scan.ts";

/** Which pod kube-scheduler wants bound, and where. */
export interface BindArgs {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/**
 * Reads the body of a bind call: `ExtenderBindingArgs`, k8s.io/kube-scheduler `extender/v1/types.go` v0.37.2. Keys
 * count in any casing.
 *
 * @throws {ShapeError} when it is not JSON, or one of the four parts is missing: a bind without UID would bind
 *   whatever pod has the name by now
 */
export function readBindArgs(body: Uint8Array): BindArgs {
  const args = readObject(body);
  const text = (key: string) => {
    const value = outerField(args, key);
    if (value === undefined || value === "") throw new ShapeError(`${key} is missing`);
    if (typeof value !== "string") throw new ShapeError(`${key} must be a string`);
    return value;
  };
  return { namespace: text("PodNamespace"), name: text("PodName"), uid: text("PodUID"), node: text("Node") };
}

/**
 * The answer to bind: `ExtenderBindingResult`, k8s.io/kube-scheduler `extender/v1/types.go` v0.37.2. It goes out with
 * status 200 also when the pod was not bound: of any other status kube-scheduler drops the body, and the reason with it.
 *
 * @param error why the pod was not bound; empty when it is
 */
export function bindAnswer(error: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify({ Error: error }));
}
