import { field } from "../protocol/json.ts";
import type { Failure } from "./answer.ts";
import type { Connection } from "./connection.ts";

/** The API groups that a server serves, by name, each with its versions, the preferred one first. */
export interface ApiGroups {
  readonly kind: "groups";
  readonly versions: ReadonlyMap<string, readonly string[]>;
}

/**
 * Asks which API groups the server reaches, custom resources and aggregated servers included; the core group is not
 * among them. Every authenticated caller may ask.
 */
export async function apiGroups(connection: Connection): Promise<ApiGroups | Failure> {
  const answer = await connection.call({ method: "GET", path: "/apis" });
  if (answer.kind !== "ok") return answer;
  const groups = list(field(answer.object, "groups"));
  return {
    kind: "groups",
    versions: new Map(groups.map((group) => [text(field(group, "name")), versionsOf(group)])),
  };
}

function versionsOf(group: unknown): readonly string[] {
  const preferred = text(field(field(group, "preferredVersion"), "version"));
  const served = list(field(group, "versions")).map((version) => text(field(version, "version")));
  return [preferred, ...served.filter((version) => version !== preferred)].filter((version) => version !== "");
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
