import * as z from "zod";
import type { PathFault } from "../policy/faults.ts";
import { field, type Json } from "../protocol/json.ts";
import { PREDICATES, PRIORITIES } from "./legacy-names.ts";

const base64 = z.base64().refine((text) => text !== "", "must not be empty");

const tlsConfig = z
  .strictObject({
    insecure: z.boolean().default(false),
    serverName: z.string().optional(),
    certFile: z.string().optional(),
    keyFile: z.string().optional(),
    caFile: z.string().optional(),
    certData: base64.optional(),
    keyData: base64.optional(),
    caData: base64.optional(),
  })
  .refine(({ insecure, caFile, caData }) => !insecure || !(caFile || caData), {
    message: "is insecure and has a CA: one of the two has to go",
  })
  .refine(({ certFile, certData, keyFile, keyData }) => Boolean(certFile || certData) === Boolean(keyFile || keyData), {
    message: "has a client certificate without its key, or a key without its certificate",
  });

const extender = z.strictObject({
  urlPrefix: z.string().refine(isHttpUrl, "must be an http or https URL, such as http://127.0.0.1:12345/api/scheduler"),
  filterVerb: z.string().default(""),
  preemptVerb: z.string().default(""),
  prioritizeVerb: z.string().default(""),
  bindVerb: z.string().default(""),
  weight: z.int().min(0).default(0),
  enableHTTPS: z.boolean().default(false),
  tlsConfig: tlsConfig.optional(),
  httpTimeout: z.int("must be a whole number of nanoseconds").min(0).default(0),
  nodeCacheCapable: z.boolean().default(false),
  managedResources: z
    .array(z.strictObject({ name: z.string().min(1), ignoredByScheduler: z.boolean().default(false) }))
    .default([]),
  ignorable: z.boolean().default(false),
  // Some files have it; kube-scheduler never looked at it.
  apiVersion: z.string().optional(),
});

/** How an extender of a Policy file is called. */
export type ExtenderSettings = Readonly<z.infer<typeof extender>>;

const known = (names: object, what: string) =>
  z.string().refine((name) => Object.hasOwn(names, name), {
    error: ({ input }) => `${JSON.stringify(input)} is no ${what} that is known here: ${Object.keys(names).join(", ")}`,
  });

/**
 * The Policy of kube-scheduler up to 1.22: `pkg/scheduler/apis/config/legacy_types.go` there. Two fields are taken and
 * change nothing: how many reasons are told, and the weight of affinity between pods, which no plugin here judges.
 */
export const policySchema = z.strictObject({
  kind: z.literal("Policy"),
  apiVersion: z.literal("v1"),
  predicates: z.array(z.strictObject({ name: known(PREDICATES, "predicate") })).nullish(),
  priorities: z.array(z.strictObject({ name: known(PRIORITIES, "priority"), weight: z.int().min(1) })).nullish(),
  extenders: z.array(extender).nullish(),
  hardPodAffinitySymmetricWeight: z.int().min(0).max(100).optional(),
  alwaysCheckAllPredicates: z.boolean().optional(),
});

/** A checked Policy file. */
export type LegacyPolicy = z.infer<typeof policySchema>;

/**
 * What only several fields together show. Reads data that may have other faults too, so that all are reported at once.
 */
export function crossFaults(data: unknown): PathFault[] {
  const extenders = listOf(data, "extenders");
  const binders = extenders.flatMap((each, index) => (field(each, "bindVerb") ? [index] : []));
  return [
    ...(["predicates", "priorities"] as const).flatMap((key) =>
      repeats(listOf(data, key).map((each) => field(each, "name"))).map((index) => ({
        path: [key, index, "name"],
        message: "stands in the list already",
      })),
    ),
    ...extenders.flatMap((each, index) =>
      field(each, "prioritizeVerb") && (field(each, "weight") ?? 0) === 0
        ? [{ path: ["extenders", index, "weight"], message: "must be more than 0 for an extender that prioritizes" }]
        : [],
    ),
    ...binders.slice(1).map((index) => ({
      path: ["extenders", index, "bindVerb"],
      message: "only one extender may bind",
    })),
  ];
}

function listOf(data: unknown, key: string): readonly Json[] {
  const list = field(data, key);
  return Array.isArray(list) ? list : [];
}

function repeats(names: readonly unknown[]): number[] {
  return names.flatMap((name, index) => (names.indexOf(name) < index ? [index] : []));
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:");
}
