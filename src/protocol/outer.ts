import { isObject, type Json, type JsonObject } from "./json.ts";
import { parseText } from "./read.ts";
import { ShapeError } from "./scan.ts";

/**
 * Reads a small body, whole.
 *
 * @throws {ShapeError} when it is no JSON object
 */
export function readObject(body: Uint8Array): JsonObject {
  const text = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
  if (text.length === 0) throw new ShapeError("the body is empty");
  const value = parseText(text, "the body is not valid JSON");
  if (!isObject(value)) throw new ShapeError("the body must be a JSON object");
  return value;
}

/**
 * Reads a field of one of the extender's own types, whose keys count in any casing: they have no JSON tags upstream
 * (k8s.io/kube-scheduler `extender/v1/types.go`, v0.37.2). Of several spellings the last counts. Answers undefined
 * for what is absent, null, or not in an object.
 */
export function outerField(value: unknown, key: string): Json | undefined {
  if (!isObject(value)) return undefined;
  const wanted = key.toLowerCase();
  const spelling = Object.keys(value).findLast((each) => each.toLowerCase() === wanted);
  return spelling === undefined ? undefined : (value[spelling] ?? undefined);
}
