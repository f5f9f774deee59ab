import { field, type Json, type JsonObject } from "../protocol/json.ts";

/** A text of an object's metadata, such as `uid` or `resourceVersion`; empty when it is missing or no text. */
export function metadataText(object: Json | undefined, key: string): string {
  const value = field(field(object, "metadata"), key);
  return typeof value === "string" ? value : "";
}

/** What a store knows an object by. Throws TypeError for one without a usable name. */
export function keyOf(object: JsonObject): string {
  const name = metadataText(object, "name");
  if (name === "") throw new TypeError("metadata.name is missing or no text");
  return `${metadataText(object, "namespace")}/${name}`;
}
