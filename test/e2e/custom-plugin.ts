import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { type RunningBinder, startBinder } from "./binder.ts";
import { type RunningFunction, startOnNode } from "./function.ts";
import { type FunctionProxy, startFunctionProxy } from "./function-proxy.ts";

const folder = join(import.meta.dirname, "..", "..", "examples", "custom-plugin");

export const TOKEN = "a-token-for-tests-0123456789abcdef";

/** The function of examples/custom-plugin, a binder that lacks its plugin, and a proxy in between. */
export interface CustomPlugin {
  readonly fn: RunningFunction;
  readonly proxy: FunctionProxy;
  readonly binder: RunningBinder;
  /** An extender's entry with all verbs, by names, for all pods. */
  readonly extender: JsonObject;
}

/** Starts them as the example's documents say, NearPartner's `whenAway` apart. */
export async function startCustomPlugin(
  plane: ControlPlane,
  whenAway: "skip" | "reject",
  env: Readonly<Record<string, string>> = {},
): Promise<CustomPlugin> {
  const configuration = parse(await readFile(join(folder, "berth.yaml"), "utf8"));
  configuration.profiles[0].plugins[1].whenAway = whenAway;
  const fn = await startOnNode(plane, {
    configuration,
    secrets: { CLUSTER_A_TOKEN: TOKEN },
    plugins: join(folder, "plugins.ts"),
  });
  const proxy = await startFunctionProxy(plane, fn);
  const binder = await startBinder(plane, {
    name: `relay-${whenAway}`,
    configuration: {
      profiles: [{ name: "own", plugins: [] }],
      callers: [{ name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: ["default"] }],
    },
    env: {
      BERTH_FUNCTION_URL: proxy.url,
      BERTH_FUNCTION_TOKEN: TOKEN,
      BERTH_FUNCTION_PROFILES: "default",
      BERTH_FUNCTION_SECONDS: "1",
      ...env,
    },
  });
  return { fn, proxy, binder, extender: entry(binder) };
}

function entry({ url, tlsConfig }: RunningBinder): JsonObject {
  return {
    urlPrefix: `${url}/default`,
    enableHTTPS: true,
    tlsConfig,
    filterVerb: "filter",
    prioritizeVerb: "prioritize",
    preemptVerb: "preempt",
    bindVerb: "bind",
    weight: 100,
    nodeCacheCapable: true,
  };
}
