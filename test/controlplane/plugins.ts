import type { JsonObject } from "../../src/protocol/json.ts";
import { askProgram } from "./ask.ts";
import { apiServerVersion, type Program } from "./programs.ts";

/** A pod, nodes, and the pods that are on them, which carry `spec.nodeName`. */
export interface PluginQuestion {
  readonly pod: JsonObject;
  readonly pods: readonly JsonObject[];
  readonly nodes: readonly JsonObject[];
  /** Arguments by the plugin's name, as kube-scheduler's configuration file has them. */
  readonly args?: Readonly<Record<string, JsonObject>>;
}

/** What kube-scheduler's own plugin says. */
export interface PluginJudgement {
  /** By node; a node that the plugin keeps is not there. */
  readonly refusals: Readonly<Record<string, { readonly reasons: readonly string[]; readonly unresolvable: boolean }>>;
  /** By node; null where the plugin does not score, or not this pod. */
  readonly raw: Readonly<Record<string, number>> | null;
  /** The scores, 0…100, of the nodes that all plugins keep. */
  readonly normalized: Readonly<Record<string, number>> | null;
}

/** What the program answers: the objects as the API server would store them, and what each plugin says of them. */
export interface PluginAnswer extends Pick<PluginQuestion, "pod" | "pods" | "nodes"> {
  readonly plugins: Readonly<Record<string, PluginJudgement>>;
}

/** The program that {@link goJudges} runs. */
export const pluginsProgram: Program = { name: "plugins", version: apiServerVersion };

/**
 * Lets the plugins of kube-scheduler v1.37.2 judge, by their names, after the API server's defaults. Builds the Go
 * program first if it must; throws when Go is missing.
 */
export function goJudges(questions: readonly PluginQuestion[]): Promise<PluginAnswer[]> {
  return askProgram(pluginsProgram, questions);
}
