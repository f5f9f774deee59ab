import type { Refusal } from "../policy/run.ts";
import { field, type JsonObject } from "../protocol/json.ts";
import type { ExtenderAnswer } from "./extender-answer.ts";
import { createExtender, type Extender } from "./extender-client.ts";
import type { Extended } from "./options.ts";
import type { ExtenderSettings } from "./policy-schema.ts";

/** Who refused, in logs. */
const PLUGIN = "Extender";

const LEFT_OUT = "node(s) were not kept by an extender";

/** Told about extenders that failed where that is no reason to stop. */
export type Warn = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/**
 * Asks the extenders of a Policy file as kube-scheduler does (`findNodesThatPassExtenders`, `prioritizeNodes` and
 * `extendersBinding` in pkg/scheduler/schedule_one.go, v1.37.2): filters one after another, each about what the one
 * before has kept; scores at the same time; the first that binds and is interested binds.
 *
 * @throws an error whose message is for people, when a certificate cannot be read
 */
export async function createExtended(
  settings: readonly ExtenderSettings[],
  warn: Warn,
): Promise<Extended & { close(): Promise<void> }> {
  const extenders = await Promise.all(settings.map(createExtender));
  return {
    filter: (pod, nodes) => filterBy(extenders, { pod, nodes, warn }),
    score: (pod, nodes) => scoreBy(extenders, { pod, nodes, warn }),
    bind: (pod, node) => bindBy(extenders, { pod, node, warn }),
    close: async () => {
      await Promise.all(extenders.map((extender) => extender.close()));
    },
  };
}

interface Asked {
  readonly pod: JsonObject;
  readonly nodes: readonly JsonObject[];
  readonly warn: Warn;
}

async function filterBy(extenders: readonly Extender[], { pod, nodes, warn }: Asked): ReturnType<Extended["filter"]> {
  const refused = new Map<string, Refusal>();
  let kept = nodes;
  for (const extender of extenders) {
    if (kept.length === 0) break;
    if (extender.settings.filterVerb === "" || !extender.interestedIn(pod)) continue;
    try {
      kept = keep(kept, await extender.filter(pod, kept), refused);
    } catch (error) {
      if (!extender.settings.ignorable) return { error: messageOf(error) };
      warn("an extender that may be ignored did not filter", { extender: extender.name, problem: messageOf(error) });
    }
  }
  return { kept, refused };
}

/** The nodes that an answer keeps, in its order; what it refuses is added to `refused`. */
function keep(
  nodes: readonly JsonObject[],
  { kept, failed, unresolvable }: ExtenderAnswer,
  refused: Map<string, Refusal>,
): readonly JsonObject[] {
  const asked = new Map(nodes.map((node) => [nameOf(node), node]));
  const chosen = new Map<string, JsonObject>();
  for (const name of kept) {
    const node = asked.get(name);
    if (!node) throw new Error(`an extender keeps node ${JSON.stringify(name)}, which it was not asked about`);
    chosen.set(name, node);
  }
  for (const name of asked.keys()) {
    if (chosen.has(name)) continue;
    const reason = unresolvable.get(name) ?? failed.get(name) ?? LEFT_OUT;
    refused.set(name, { plugin: PLUGIN, reason, unresolvable: unresolvable.has(name) });
  }
  return [...chosen.values()];
}

/** Score × weight × 10, summed: an extender's scores reach to 10, a plugin's to 100. */
async function scoreBy(extenders: readonly Extender[], { pod, nodes, warn }: Asked): ReturnType<Extended["score"]> {
  const sums = new Map<string, number>();
  const asked = extenders.filter(({ settings, interestedIn }) => settings.prioritizeVerb !== "" && interestedIn(pod));
  await Promise.all(
    asked.map(async (extender) => {
      try {
        for (const [name, score] of await extender.prioritize(pod, nodes)) {
          sums.set(name, (sums.get(name) ?? 0) + score * extender.settings.weight * 10);
        }
      } catch (error) {
        warn("an extender gave no scores", { extender: extender.name, problem: messageOf(error) });
      }
    }),
  );
  return sums;
}

async function bindBy(
  extenders: readonly Extender[],
  { pod, node, warn }: { readonly pod: JsonObject; readonly node: string; readonly warn: Warn },
): ReturnType<Extended["bind"]> {
  for (const extender of extenders) {
    if (extender.settings.bindVerb === "" || !extender.interestedIn(pod)) continue;
    try {
      const [namespace, name, uid] = ["namespace", "name", "uid"].map((key) => text(pod, key)) as [
        string,
        string,
        string,
      ];
      await extender.bind({ namespace, name, uid }, node);
      return "bound";
    } catch (error) {
      if (!extender.settings.ignorable) return { error: messageOf(error) };
      warn("an extender that may be ignored did not bind", { extender: extender.name, problem: messageOf(error) });
    }
  }
  return "none";
}

function text(object: JsonObject, key: string): string {
  const value = field(field(object, "metadata"), key);
  return typeof value === "string" ? value : "";
}

function nameOf(node: JsonObject): string {
  return text(node, "name");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
