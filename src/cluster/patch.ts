import { field, isObject, type Json, type JsonObject } from "../protocol/json.ts";
import type { Answer } from "./answer.ts";
import type { Connection } from "./connection.ts";
import { type ObjectName, objectPath, type Resource } from "./resources.ts";

/** One step of a JSON Patch (RFC 6902). A `test` that fails has the whole patch refused with 422 (`invalid`). */
export type PatchStep =
  | { readonly op: "test" | "add" | "replace"; readonly path: string; readonly value: Json }
  | { readonly op: "remove"; readonly path: string };

/** A change to one object. */
export interface PatchOrder extends ObjectName {
  readonly resource: Resource;
  /** An object is a JSON Merge Patch (RFC 7396), where null removes a field; an array is a JSON Patch. */
  readonly patch: JsonObject | readonly PatchStep[];
  /** The change is refused (422, `invalid`) when the object is another one of the same name. */
  readonly uid?: string;
  /** The change is refused (409, `conflict`) when the object has changed since, or is another one. */
  readonly resourceVersion?: string;
  /** `status` changes the status and nothing else; without it the API server drops changes to a status. */
  readonly subresource?: "status";
  /** Deadline in milliseconds. */
  readonly within?: number;
  /** True when nobody reads the changed object. */
  readonly statusOnly?: boolean;
}

/**
 * Changes an object, with the content type that belongs to the form of the patch: client-node would call everything a
 * JSON Patch, and the API server refuses an object under that name. Fields that the patch does not name stay as they
 * are, also those that this release knows nothing about.
 */
export function patchObject(connection: Connection, order: PatchOrder): Promise<Answer> {
  const { resource, patch, subresource, within, statusOnly } = order;
  const json = !isObject(patch);
  return connection.call({
    method: "PATCH",
    path: objectPath(resource, order, subresource),
    contentType: json ? "application/json-patch+json" : "application/merge-patch+json",
    body: json ? stepsOf(patch, order) : mergeOf(patch, order),
    ...(within !== undefined && { within }),
    ...(statusOnly !== undefined && { statusOnly }),
  });
}

/**
 * The preconditions travel as fields of the patched object: the API server compares them with what it holds
 * (k8s.io/apiserver v0.37, pkg/registry/generic/registry/store.go, Update).
 */
function preconditions({ uid, resourceVersion }: PatchOrder): Readonly<Record<string, string>> {
  return { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
}

function mergeOf(patch: JsonObject, order: PatchOrder): JsonObject {
  const known = preconditions(order);
  if (Object.keys(known).length === 0) return patch;
  const metadata = field(patch, "metadata");
  return { ...patch, metadata: { ...(isObject(metadata) ? metadata : {}), ...known } };
}

function stepsOf(patch: readonly PatchStep[], order: PatchOrder): readonly PatchStep[] {
  const known = Object.entries(preconditions(order));
  return [...known.map(([key, value]): PatchStep => ({ op: "replace", path: `/metadata/${key}`, value })), ...patch];
}
