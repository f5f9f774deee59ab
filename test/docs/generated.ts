import { readFile, writeFile } from "node:fs/promises";
import * as z from "zod";
import { describeMetrics } from "../../src/binder/metrics.ts";
import { configurationSchema } from "../../src/policy/configuration.ts";
import { fleetFacts } from "../../src/policy/facts.ts";
import type { AnyPlugin } from "../../src/policy/plugin.ts";
import { registry } from "../../src/policy/registry.ts";
import type { Views } from "../../src/policy/view.ts";

const ROOT = new URL("../../", import.meta.url);

/** A generated file: its path from the root, what is in it, and what the code says should be. */
export interface Generated {
  readonly path: string;
  readonly current: string;
  readonly wanted: string;
}

/** Everything in the repository that is written from the code, read and generated afresh. */
export async function generated(): Promise<Generated[]> {
  const [policies, metrics] = await Promise.all([read("docs/policies.md"), read("docs/metrics.md")]);
  return [
    { path: "docs/policies.md", current: policies, wanted: between(policies, "plugins", pluginTable()) },
    { path: "docs/metrics.md", current: metrics, wanted: between(metrics, "metrics", metricTable()) },
    await schema("docs/schema/berth.schema.json", configurationSchema(registry)),
    await schema("docs/schema/facts.schema.json", fleetFacts),
  ];
}

/** Writes what has changed and answers with the paths. */
export async function writeGenerated(): Promise<string[]> {
  const stale = (await generated()).filter(({ current, wanted }) => current !== wanted);
  for (const { path, wanted } of stale) await writeFile(new URL(path, ROOT), wanted);
  return stale.map(({ path }) => path);
}

async function read(path: string): Promise<string> {
  return readFile(new URL(path, ROOT), "utf8").catch(() => "");
}

async function schema(path: string, type: z.ZodType): Promise<Generated> {
  const wanted = `${JSON.stringify(z.toJSONSchema(type, { io: "input" }), null, 2)}\n`;
  return { path, current: await read(path), wanted };
}

function between(page: string, name: string, content: string): string {
  const pattern = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*(<!-- end of ${name} -->)`);
  if (!pattern.test(page)) throw new Error(`the page has lost its markers for ${name}`);
  return page.replace(pattern, (_, begin: string, end: string) => `${begin}${content}\n${end}`);
}

function metricTable(): string {
  const rows = describeMetrics().map(({ name, type, labels, help }) => {
    const named = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${named || "none"} | ${help} |`;
  });
  return ["| metric | type | labels | what it tells |", "|---|---|---|---|", ...rows].join("\n");
}

function pluginTable(): string {
  return registry.map(pluginSection).join("\n\n");
}

function pluginSection(plugin: AnyPlugin): string {
  const facts = { apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts" } as const;
  const { pod = {}, node = {}, around = {} } = plugin.reads(plugin.args.parse({}), facts);
  return [
    `### ${plugin.name}`,
    "",
    plugin.doc,
    "",
    `| | |\n|---|---|`,
    `| maturity | ${plugin.maturity}, version ${plugin.version} |`,
    `| scores | ${plugin.scale === undefined ? "no" : `yes, scale \`${plugin.scale}\``} |`,
    `| reads of the pod | ${viewNames(pod)} |`,
    `| reads of each node | ${viewNames(node)} |`,
    `| reads around them | ${viewNames(around)} |`,
    ...argumentRows(plugin),
  ].join("\n");
}

function viewNames(views: Views): string {
  const names = Object.values(views).map((view) => `${view.name.replace("()", "")} (${view.pace})`);
  return names.length === 0 ? "nothing" : names.join(", ");
}

interface ArgumentSchema {
  readonly properties?: Readonly<Record<string, { description?: string; enum?: string[]; default?: unknown }>>;
}

function argumentRows(plugin: AnyPlugin): string[] {
  const { properties = {} } = z.toJSONSchema(plugin.args, { io: "input" }) as ArgumentSchema;
  return Object.entries(properties).map(([name, { description = "", enum: values, default: usual }]) => {
    const choices = values ? ` One of ${values.map((value) => `\`${value}\``).join(", ")}.` : "";
    return `| argument \`${name}\` | ${description}.${choices} Default \`${JSON.stringify(usual)}\`. |`;
  });
}
