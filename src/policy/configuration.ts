import * as z from "zod";
import { field, type Json } from "../protocol/json.ts";
import { type Check, checkSchema, type PathFault } from "./faults.ts";
import type { AnyPlugin } from "./plugin.ts";

/** Names that are paths of the server itself, so no profile can have them. */
const RESERVED_NAMES = [
  "healthz",
  "readyz",
  "livez",
  "metrics",
  "inspect",
  "shadow",
  "version",
  "gpushare-scheduler",
  "filter",
  "prioritize",
  "preempt",
  "bind",
  "evaluate",
] as const;

const profileName = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "must be lower-case letters, digits and dashes (it is part of a URL)")
  .refine((name) => !(RESERVED_NAMES as readonly string[]).includes(name), {
    error: `is reserved: ${RESERVED_NAMES.join(", ")}`,
  });

const secretName = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,127}$/, "must name a secret as environments do: capitals, digits and underscores");

const certificateName = z
  .string()
  .regex(
    /^(sha256:[0-9a-f]{64}|[^:\s]{1,253})$/,
    "must be a common name, a DNS name of the certificate, or sha256: and 64 lower-case hex digits",
  );

/** One way a caller may prove who it is. Several stand side by side while one is replaced by the next. */
const credentialSchema = z.union(
  [
    z.strictObject({ path: secretName }).meta({ description: "the secret is the first segment of the URL's path" }),
    z.strictObject({ basic: secretName }).meta({ description: "the secret is user:password, sent as HTTP Basic" }),
    z.strictObject({ bearer: secretName }).meta({ description: "the secret is sent as a bearer token" }),
    z.strictObject({ certificate: certificateName }).meta({ description: "a verified client certificate's name" }),
  ],
  { error: "must be one of {path: SECRET}, {basic: SECRET}, {bearer: SECRET}, {certificate: NAME}" },
);

const callerSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$/, "must be letters, digits, dashes, dots, underscores"),
  credentials: z.array(credentialSchema).min(1, "needs at least one credential"),
  profiles: z.array(z.string()).min(1, "needs at least one profile"),
});

/**
 * The schema of berth.yaml for a table of plugins. Arguments are checked where they stand, so every fault has a
 * path, and editors get the same rules as a JSON Schema.
 *
 * @param elsewhere profiles that come from somewhere else: beside them a file needs none of its own
 */
export function configurationSchema(plugins: readonly AnyPlugin[], elsewhere: readonly string[] = []) {
  const [first, ...others] = plugins.map(pluginSchema);
  if (!first) throw new Error("a configuration needs at least one plugin in the registry");
  const known = plugins.map((plugin) => plugin.name).join(", ");
  const entry = z.discriminatedUnion("name", [first, ...others], { error: `is not a plugin; known are ${known}` });
  const profile = z.strictObject({ name: profileName, plugins: z.array(entry) });
  const profiles = z.array(profile);
  return z.strictObject({
    apiVersion: z.literal("berth.dev/v1alpha1"),
    kind: z.literal("PolicyConfiguration"),
    profiles: elsewhere.length > 0 ? profiles.default([]) : profiles.min(1, "needs at least one profile"),
    callers: z.array(callerSchema).default([]),
  });
}

/**
 * Checks a parsed berth.yaml: every fault at once, each with its path.
 *
 * @param elsewhere profiles that come from somewhere else, which callers may be given too
 */
export function checkConfiguration(
  plugins: readonly AnyPlugin[],
  elsewhere: readonly string[] = [],
): Check<Configuration> {
  const check = checkSchema<Configuration>(configurationSchema(plugins, elsewhere));
  return (document) => {
    const checked = check(document);
    const faults = referenceFaults(document, elsewhere);
    if ("faults" in checked) return { faults: [...checked.faults, ...faults] };
    return faults.length === 0 ? checked : { faults };
  };
}

/** A checked berth.yaml. */
export type Configuration = z.infer<ReturnType<typeof configurationSchema>>;

/** Somebody who may ask, as configured. */
export type CallerConfiguration = z.infer<typeof callerSchema>;

/** One credential of a caller, as configured. */
export type Credential = z.infer<typeof credentialSchema>;

const whenAway = z.enum(["skip", "reject"]).meta({
  description:
    "where only a function has the plugin's code and the function is away: go on without the plugin, or keep pods waiting",
});

function pluginSchema(plugin: AnyPlugin) {
  const shape = { name: z.literal(plugin.name), args: plugin.args.prefault({}), whenAway: whenAway.optional() };
  const weight = z.int().min(1).max(100).default(1);
  return plugin.scale === undefined ? z.strictObject(shape) : z.strictObject({ ...shape, weight });
}

/**
 * What only the whole berth.yaml shows: names that are taken twice or lead nowhere. Reads a document that may have
 * other faults too, so that all of them are reported together.
 */
function referenceFaults(document: unknown, elsewhere: readonly string[]): PathFault[] {
  const profiles = namesOf(field(document, "profiles"));
  const faults = [
    ...repeats(profiles, "is the name of an earlier profile", (index) => ["profiles", index, "name"]),
    ...profiles.flatMap((name, index) => takenFault(name, index, elsewhere)),
    ...repeats(namesOf(field(document, "callers")), "is the name of an earlier caller", (index) => [
      "callers",
      index,
      "name",
    ]),
  ];
  for (const [index, profile] of listOf(field(document, "profiles")).entries()) {
    const plugins = namesOf(field(profile, "plugins"));
    const place = (at: number) => ["profiles", index, "plugins", at, "name"];
    faults.push(...repeats(plugins, "stands in this profile already", place));
  }
  faults.push(...sharedCredentials(listOf(field(document, "callers"))));
  for (const [index, caller] of listOf(field(document, "callers")).entries()) {
    for (const [at, name] of listOf(field(caller, "profiles")).entries()) {
      if (typeof name !== "string" || profiles.includes(name) || elsewhere.includes(name)) continue;
      faults.push({ path: ["callers", index, "profiles", at], message: "is not a profile of this file" });
    }
  }
  return faults;
}

function takenFault(name: Json | undefined, index: number, elsewhere: readonly string[]): PathFault[] {
  if (typeof name !== "string" || !elsewhere.includes(name)) return [];
  return [{ path: ["profiles", index, "name"], message: "is the name of a profile that comes from a function" }];
}

/** A credential tells who calls, so it can belong to one caller only: a second one would never be found by it. */
function sharedCredentials(callers: readonly Json[]): PathFault[] {
  const seen = new Set<string>();
  return callers.flatMap((caller, index) =>
    listOf(field(caller, "credentials")).flatMap((credential, at) => {
      const identity = JSON.stringify(credential);
      if (seen.has(identity))
        return [
          {
            path: ["callers", index, "credentials", at],
            message: "is a credential of this or an earlier caller already",
          },
        ];
      seen.add(identity);
      return [];
    }),
  );
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function namesOf(value: Json | undefined): (Json | undefined)[] {
  return listOf(value).map((entry) => field(entry, "name"));
}

function repeats(
  names: readonly (Json | undefined)[],
  message: string,
  place: (index: number) => (string | number)[],
): PathFault[] {
  return names.flatMap((name, index) =>
    typeof name === "string" && names.indexOf(name) < index ? [{ path: place(index), message }] : [],
  );
}
