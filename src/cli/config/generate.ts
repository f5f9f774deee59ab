import { type Document, isMap, isScalar, isSeq, type Node, YAMLMap, YAMLSeq } from "yaml";
import { field, type JsonObject } from "../../protocol/json.ts";
import { type Extender, extendersOf, profilesOf } from "../kube-scheduler/extender.ts";
import { preempts } from "../kube-scheduler/preemption.ts";
import { adopt, blank } from "./adopt.ts";
import { comment, pairOf } from "./comments.ts";
import { ConfigurationRefused, type ConfigurationWish } from "./options.ts";
import { type Line, type Plan, planFor } from "./plan.ts";

/** A configuration as it is written. */
export interface Generated {
  /** A `kubescheduler.config.k8s.io/v1` file whose comments say why each line is there. */
  readonly text: string;
  /** Flags that kube-scheduler needs beside --config. */
  readonly flags: readonly string[];
  /** What was changed of the file that it was made from. */
  readonly notes: readonly string[];
}

/**
 * Writes kube-scheduler's configuration for a wish, afresh or into the text of an existing file, of which everything
 * else stays, comments too.
 *
 * @throws {ConfigurationRefused} when the wish, or it together with the file, would not work or not be safe
 */
export function generateConfiguration(wish: ConfigurationWish, from?: string): Generated {
  const plan = planFor(wish);
  const { document, notes } = from === undefined ? blank() : adopt(from);
  const changes = [
    ...notes,
    ...addFields(document, plan),
    ...addProfiles(document, plan),
    ...addExtender(document, plan),
  ];
  return { text: document.toString({ lineWidth: 0 }), flags: plan.flags, notes: changes };
}

function root(document: Document): YAMLMap {
  if (!isMap(document.contents)) throw new ConfigurationRefused("--from: the file is no map of fields");
  return document.contents;
}

/** What a file says already is its owner's; only what would not work is changed. */
function addFields(document: Document, { fields, allNodes }: Plan): string[] {
  const notes: string[] = [];
  for (const line of fields) {
    const own = document.get(line.key);
    if (own === undefined || own === null) put(document, line);
    else if (line.key === "podMaxBackoffSeconds" && Number(own) < Number(line.value)) {
      notes.push(`podMaxBackoffSeconds was ${own}`);
      put(document, line);
    }
  }
  if (allNodes === undefined) return notes;
  const own = document.get("percentageOfNodesToScore");
  if (own !== undefined && own !== 100) notes.push(`percentageOfNodesToScore was ${own}`);
  put(document, { key: "percentageOfNodesToScore", value: 100, why: allNodes });
  return notes;
}

/** A field that is there keeps its place and its comment. */
function put(document: Document, line: Line): void {
  const pair = pairOf(document, line);
  const own = root(document).items.find(({ key }) => isScalar(key) && key.value === line.key);
  if (own === undefined) root(document).add(pair as never);
  else {
    own.value = pair.value as Node;
    if (isScalar(own.key) && isScalar(pair.key)) own.key.commentBefore ??= pair.key.commentBefore ?? null;
  }
}

function addProfiles(document: Document, plan: Plan): string[] {
  const { schedulerName, preemptionOff, allNodes } = plan;
  if (schedulerName) nameProfile(document, schedulerName);
  const profiles = document.get("profiles", true);
  if (!isSeq(profiles) || profiles.items.length === 0) {
    if (preemptionOff === undefined) return [];
    document.set("profiles", document.createNode([{ schedulerName: "default-scheduler" }]));
  }
  const value = document.toJS() as JsonObject;
  return profilesOf(value).flatMap((profile, index) => [
    ...(allNodes === undefined ? [] : lookAtAll(document, profile, index)),
    ...(preemptionOff === undefined ? [] : stopPreemption(document, { profile, index, why: preemptionOff })),
  ]);
}

function nameProfile(document: Document, line: Line): void {
  const profiles = profilesOf(document.toJS() as JsonObject);
  const own = document.get("profiles", true);
  if (isSeq(own) && own.items.length > 0) {
    const names = profiles.map((profile) => field(profile, "schedulerName") ?? "default-scheduler");
    if (names.includes(line.value as string) && !names.includes("default-scheduler")) return;
    throw new ConfigurationRefused(
      `--from: its profiles are ${names.join(", ")}; a second scheduler has ${line.value} and not default-scheduler: rename them first`,
    );
  }
  const profile = new YAMLMap<Node, Node>(document.schema);
  profile.add(pairOf(document, line) as never);
  const list = new YAMLSeq(document.schema);
  list.add(profile);
  document.set("profiles", list);
}

function lookAtAll(document: Document, profile: JsonObject, index: number): string[] {
  const own = field(profile, "percentageOfNodesToScore");
  if (own === undefined || own === null || own === 100) return [];
  document.setIn(["profiles", index, "percentageOfNodesToScore"], 100);
  return [`percentageOfNodesToScore of profile ${index + 1} was ${String(own)}`];
}

function stopPreemption(
  document: Document,
  { profile, index, why }: { profile: JsonObject; index: number; why: string },
): string[] {
  if (!preempts(profile)) return [];
  const path = ["profiles", index, "plugins", "postFilter", "disabled"];
  for (const length of [3, 4]) ensureMap(document, path.slice(0, length));
  const disabled = document.getIn(path, true);
  if (isSeq(disabled)) disabled.add(document.createNode({ name: "DefaultPreemption" }));
  else document.setIn(path, document.createNode([{ name: "DefaultPreemption" }]));
  explain(document, path, why);
  const after = profilesOf(document.toJS() as JsonObject)[index] ?? {};
  if (preempts(after)) {
    throw new ConfigurationRefused(
      `--from: profile ${index + 1} enables DefaultPreemption under postFilter, and must not preempt: remove it there`,
    );
  }
  return field(profile, "plugins") === undefined ? [] : [`preemption of profile ${index + 1} was on`];
}

/** setIn would make what YAML 1.1 calls an ordered map. */
function ensureMap(document: Document, path: readonly (string | number)[]): void {
  if (!isMap(document.getIn(path, true))) document.setIn(path, new YAMLMap(document.schema));
}

/** Puts the reason above `postFilter`, which is written line by line. */
function explain(document: Document, path: readonly (string | number)[], why: string): void {
  const plugins = document.getIn(path.slice(0, 3), true);
  if (!isMap<Node, Node>(plugins)) return;
  const pair = plugins.items.find(({ key }) => isScalar(key) && key.value === "postFilter");
  if (pair && isScalar(pair.key)) pair.key.commentBefore ??= comment(why);
  if (pair && isMap(pair.value)) pair.value.flow = false;
  const disabled = document.getIn(path, true);
  if (isSeq(disabled)) {
    disabled.flow = false;
    for (const item of disabled.items) if (isMap(item)) item.flow = false;
  }
}

function addExtender(document: Document, plan: Plan): string[] {
  const entry = new YAMLMap<Node, Node>(document.schema);
  for (const line of plan.extender) entry.add(pairOf(document, line) as never);
  const [ours] = extendersOf({
    extenders: [Object.fromEntries(plan.extender.map(({ key, value }) => [key, value])) as JsonObject],
  });
  const existing = document.get("extenders", true);
  const list = isSeq(existing) ? existing : new YAMLSeq(document.schema);
  const others = extendersOf(document.toJS() as JsonObject);
  const same = others.find(({ address }) => address?.url.href.replace(/\/$/, "") === ours?.address?.url.href);
  if (ours)
    refuseClash(
      ours,
      others.filter((each) => each !== same),
    );
  if (same) list.items[same.index] = entry;
  else list.add(entry);
  if (list !== existing) {
    document.delete("extenders");
    document.set("extenders", list);
  }
  return same ? [`the extender ${same.shown} was replaced`] : [];
}

function refuseClash(ours: Extender, others: readonly Extender[]): void {
  const binder = others.find(({ verbs }) => verbs.bind);
  if (ours.verbs.bind && binder) {
    throw new ConfigurationRefused(
      `--from: ${binder.shown} has a bindVerb already, and only one extender of a kube-scheduler may bind: remove it there, or use a second scheduler`,
    );
  }
  const mine = new Set(ours.resources.map(({ name }) => name));
  for (const { resources, shown } of others) {
    const shared = resources.find(({ name }) => mine.has(name));
    if (shared) {
      throw new ConfigurationRefused(
        `--from: ${shared.name} belongs to ${shown} already, and a resource may belong to one extender only`,
      );
    }
  }
}
