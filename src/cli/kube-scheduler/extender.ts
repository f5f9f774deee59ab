import { field, isObject, type Json, type JsonObject } from "../../protocol/json.ts";
import { type Address, readAddress } from "./address.ts";
import { parseDuration } from "./duration.ts";

/** What kube-scheduler waits for an answer when `httpTimeout` is not set. */
export const DEFAULT_TIMEOUT_MS = 5_000;

/** An entry of `extenders`, read as far as it can be. */
export interface Extender {
  readonly index: number;
  readonly entry: JsonObject;
  readonly address: Address | undefined;
  /** The URL for people, without secrets. */
  readonly shown: string;
  readonly verbs: Readonly<Record<Verb, boolean>>;
  readonly timeoutMs: number;
  readonly ignorable: boolean;
  readonly names: boolean;
  /** Empty: every pod concerns it. */
  readonly resources: readonly { readonly name: string; readonly ignored: boolean; readonly index: number }[];
}

/** What an extender can be asked. */
export type Verb = "filter" | "prioritize" | "preempt" | "bind";

const VERBS = ["filter", "prioritize", "preempt", "bind"] as const;

/** The extenders of a configuration or an old Policy file (k8s.io/kube-scheduler v0.37.2 config/v1). */
export function extendersOf(value: JsonObject): Extender[] {
  return entries(field(value, "extenders")).map(readExtender);
}

/** The profiles of a configuration; one without any has the default one. */
export function profilesOf(value: JsonObject): JsonObject[] {
  const profiles = entries(field(value, "profiles"));
  return profiles.length === 0 ? [{}] : profiles;
}

/** The maps of a list; empty for what is none. */
export function entries(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.map((each): JsonObject => (isObject(each) ? each : {})) : [];
}

function readExtender(entry: JsonObject, index: number): Extender {
  const urlPrefix = field(entry, "urlPrefix");
  const address = typeof urlPrefix === "string" ? readAddress(urlPrefix) : undefined;
  const verbs = Object.fromEntries(VERBS.map((verb) => [verb, isSet(entry[`${verb}Verb`])])) as Record<Verb, boolean>;
  return {
    index,
    entry,
    address,
    shown: address?.shown ?? `extender ${index + 1}`,
    verbs,
    timeoutMs: timeoutOf(field(entry, "httpTimeout")),
    ignorable: field(entry, "ignorable") === true,
    names: field(entry, "nodeCacheCapable") === true,
    resources: entries(field(entry, "managedResources")).map((each, at) => ({
      name: String(field(each, "name") ?? ""),
      ignored: field(each, "ignoredByScheduler") === true,
      index: at,
    })),
  };
}

function isSet(verb: Json | undefined): boolean {
  return typeof verb === "string" && verb !== "";
}

/** Old Policy files count nanoseconds. */
function timeoutOf(timeout: Json | undefined): number {
  const ms = typeof timeout === "number" ? timeout / 1e6 : parseDuration(String(timeout ?? ""));
  return ms === undefined || ms <= 0 ? DEFAULT_TIMEOUT_MS : ms;
}
