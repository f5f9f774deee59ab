import { Document, isMap, isScalar, isSeq, type Node, parseDocument, visit, type YAMLMap } from "yaml";
import { formatDuration } from "../kube-scheduler/duration.ts";
import { GONE_PLUGINS } from "../kube-scheduler/plugins.ts";
import { type Found, readContents } from "../kube-scheduler/read.ts";
import { ConfigurationRefused } from "./options.ts";

/** A configuration to go on from, and what was changed to make it one of v1. */
export interface Adopted {
  readonly document: Document;
  readonly notes: readonly string[];
}

const HEAD = `# A file of kube-scheduler's own (--config=FILE), no object of the API server: kubectl cannot apply it.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
`;

/** A configuration that says nothing yet. */
export function blank(): Adopted {
  return { document: parseDocument(HEAD), notes: [] };
}

/**
 * Takes over what somebody has: a configuration of any version or an old Policy file, also inside a ConfigMap. Values,
 * order and comments stay; what v1 has no word for goes, and notes tell of it.
 *
 * @throws {ConfigurationRefused} when the text holds no configuration, several, or is no YAML
 */
export function adopt(text: string): Adopted {
  const { found, unreadable } = readContents(text);
  const [problem] = unreadable;
  if (problem) throw new ConfigurationRefused(`--from: line ${problem.line}: ${problem.problem}`);
  const [only, second] = found;
  if (only === undefined)
    throw new ConfigurationRefused("--from: there is no KubeSchedulerConfiguration and no Policy file in it");
  if (second) throw new ConfigurationRefused("--from: there are several configurations in it: give a file with one");
  return only.kind === "Policy" ? fromPolicy(only) : fromConfiguration(only);
}

function fromPolicy({ document, value }: Found): Adopted {
  const adopted = blank().document;
  const notes = ["from a Policy file, which no kube-scheduler reads any more: its extenders were taken over"];
  const extenders = document.get("extenders", true) as Node | undefined;
  if (extenders) adopted.set("extenders", inBlocks(extenders));
  const left = Object.keys(value).filter((key) => !["kind", "apiVersion", "extenders"].includes(key));
  if (left.length > 0)
    notes.push(
      `left out, for kube-scheduler has no counterpart: ${left.join(", ")}; its default plugins take their place`,
    );
  return { document: adopted, notes: [...notes, ...mendExtenders(adopted)] };
}

function fromConfiguration(found: Found): Adopted {
  const { document } = found;
  const notes: string[] = [];
  if (found.apiVersion !== V1) {
    document.set("apiVersion", V1);
    notes.push(`apiVersion was ${found.apiVersion || "missing"}`);
  }
  if (document.get("kind") === undefined) document.set("kind", "KubeSchedulerConfiguration");
  for (const key of ["healthzBindAddress", "metricsBindAddress", "algorithmSource", "disablePreemption"]) {
    if (document.delete(key)) notes.push(`left out: ${key}, which v1 does not know`);
  }
  visit(document, {
    Pair: (_, pair) => {
      if (!isScalar(pair.key) || pair.key.value !== "apiVersion" || !isScalar(pair.value)) return;
      if (/^kubescheduler\.config\.k8s\.io\/v1(alpha|beta)\d$/.test(String(pair.value.value))) pair.value.value = V1;
    },
  });
  return { document, notes: [...notes, ...dropGonePlugins(document), ...mendExtenders(document)] };
}

const V1 = "kubescheduler.config.k8s.io/v1";

function dropGonePlugins(document: Document): string[] {
  const dropped = new Set<string>();
  visit(document, {
    Map: (_, map, path) => {
      const name = map.get("name");
      const parent = path.at(-1);
      if (typeof name !== "string" || !GONE_PLUGINS.includes(name) || !isSeq(parent)) return undefined;
      dropped.add(name);
      return visit.REMOVE;
    },
  });
  return dropped.size === 0 ? [] : [`left out, for kube-scheduler has no such plugins: ${[...dropped].join(", ")}`];
}

const EXTENDER_KEYS = [
  "urlPrefix",
  "filterVerb",
  "preemptVerb",
  "prioritizeVerb",
  "weight",
  "bindVerb",
  "enableHTTPS",
  "tlsConfig",
  "httpTimeout",
  "nodeCacheCapable",
  "managedResources",
  "ignorable",
];
const TLS_KEYS = ["insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"];

/** Old files wrote keys in other letters and durations in nanoseconds. */
function mendExtenders(document: Document): string[] {
  const extenders = document.get("extenders", true);
  if (!isSeq(extenders)) return [];
  const notes: string[] = [];
  for (const entry of extenders.items) {
    if (!isMap<Node, Node | null>(entry)) continue;
    notes.push(...rename(entry, EXTENDER_KEYS));
    const tls = entry.get("tlsConfig", true);
    if (isMap<Node, Node | null>(tls)) notes.push(...rename(tls, TLS_KEYS));
    if (remove(entry, "apiVersion")) notes.push("left out: apiVersion of an extender");
    const timeout: unknown = entry.get("httpTimeout", true);
    if (isScalar(timeout) && typeof timeout.value === "number") timeout.value = formatDuration(timeout.value / 1e6);
  }
  return [...new Set(notes)];
}

function remove(map: YAMLMap<Node, Node | null>, name: string): boolean {
  const index = map.items.findIndex(({ key }) => isScalar(key) && key.value === name);
  if (index >= 0) map.items.splice(index, 1);
  return index >= 0;
}

function rename(map: YAMLMap<Node, Node | null>, known: readonly string[]): string[] {
  return map.items.flatMap(({ key }) => {
    if (!isScalar(key)) return [];
    const name = String(key.value);
    const right = known.find((each) => each !== name && each.toLowerCase() === name.toLowerCase());
    if (right === undefined) return [];
    key.value = right;
    return [`${name} is ${right} in v1`];
  });
}

/** JSON becomes YAML as people write it. */
function inBlocks(node: Node): Node {
  visit(new Document(node), {
    Collection: (_, collection) => {
      collection.flow = false;
    },
    Scalar: (_, scalar) => {
      scalar.type = "PLAIN";
    },
  });
  return node;
}
