import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { startGoExtender } from "../controlplane/goextender.ts";
import { type RunningBinder, startBinder } from "../e2e/binder.ts";
import { type RunningFunction, startOnNode } from "../e2e/function.ts";
import { startDelayProxy } from "./delay-proxy.ts";
import { goPolicy, prices, REQUIRED } from "./scenario.ts";

/** Who decides beside kube-scheduler in a run. */
export interface RelayArm {
  readonly extenders: readonly JsonObject[];
  readonly pid?: number;
  /** The binder's metrics. */
  metrics?(): Promise<string>;
  stop(): Promise<void>;
}

/** A way to decide. */
export interface RelayRival {
  readonly name: string;
  start(plane: ControlPlane): Promise<RelayArm>;
}

/** kube-scheduler alone. */
export const plain: RelayRival = {
  name: "no extender",
  start: async () => ({ extenders: [], stop: async () => undefined }),
};

/** The official types, encoding/json, names only, nodes from an informer: filter and prioritize. */
export const goByNames: RelayRival = {
  name: "Go extender by names, filter and prioritize",
  start: (plane) => startGo(plane, { binds: false }),
};

/** The same, and it binds, by client-go without a limit, and follows pods: what whoever binds in kube-scheduler's place does. */
export const goAllVerbs: RelayRival = {
  name: "Go extender by names, all verbs",
  start: (plane) => startGo(plane, { binds: true }),
};

async function startGo(plane: ControlPlane, { binds }: { readonly binds: boolean }): Promise<RelayArm> {
  const certificate = await plane.authority.issue({ name: "goextender" });
  const extender = await startGoExtender({
    policy: goPolicy,
    folder: plane.folder,
    kubeconfig: await plane.kubeconfig("admin"),
    binds,
    tls: { ...certificate, caPem: plane.caPem },
  });
  const tlsConfig = { caData: Buffer.from(plane.caPem).toString("base64") };
  const verbs = { filterVerb: "filter", prioritizeVerb: "prioritize", ...(binds && { bindVerb: "bind" }) };
  return {
    extenders: [{ ...byNames(extender.url, tlsConfig), ...verbs }],
    pid: extender.pid,
    stop: () => extender.stop(),
  };
}

const LOCAL = [
  { name: "NodeLabel", args: { require: REQUIRED } },
  { name: "NodeCost" },
  { name: "GpuMemory" },
] as const;

const FAR = { name: "NearPartner", whenAway: "skip", args: { farthest: 1_000 } };

/** Milliseconds to the function and back. */
const AWAY = 25;

const TOKEN = "a-token-for-benchmarks-0123456789";

/** The binder, its policy from a function; all verbs. */
export const relay: RelayRival = { name: "relay", start: (plane) => startRelay(plane, "default") };

/** The same, with one plugin more that only the function has. */
export const relayFar: RelayRival = {
  name: "relay, one plugin in the function only",
  start: (plane) => startRelay(plane, "far"),
};

/** The same as the relay, with another policy decided in its shadow. */
export const relayShadow: RelayRival = {
  name: "relay, with a shadow",
  start: (plane) => startRelay(plane, "default", { BERTH_SHADOW_PROFILE: "default=trial" }),
};

async function startRelay(
  plane: ControlPlane,
  profile: RelayProfile,
  env: Readonly<Record<string, string>> = {},
): Promise<RelayArm> {
  const fn = await startRelayFunction(plane);
  const caFile = join(plane.folder, "function-ca.crt");
  await writeFile(caFile, plane.caPem);
  const profiles = env["BERTH_SHADOW_PROFILE"] === undefined ? profile : `${profile},trial`;
  const { binder, extenders } = await startRelayBinder(plane, {
    profile,
    env: { BERTH_FUNCTION_URL: fn.url, BERTH_FUNCTION_CA: caFile, BERTH_FUNCTION_PROFILES: profiles, ...env },
  });
  return {
    extenders,
    pid: binder.process.pid,
    metrics: async () => (await binder.get("/metrics")).text,
    async stop() {
      await binder.stop();
      await fn.stop();
    },
  };
}

/** All plugins known to the binder, or one that only the function has besides. */
export type RelayProfile = "default" | "far";

/** The function, 25 ms away. */
export async function startRelayFunction(plane: ControlPlane): Promise<Pick<RunningFunction, "url" | "stop">> {
  const fn = await startOnNode(plane, {
    configuration: {
      profiles: [
        { name: "default", plugins: LOCAL },
        { name: "far", plugins: [...LOCAL, FAR] },
        { name: "trial", plugins: [LOCAL[0], { ...LOCAL[1], weight: 2 }, LOCAL[2]] },
      ],
      callers: [{ name: "binder", credentials: [{ bearer: "TOKEN" }], profiles: ["default", "far", "trial"] }],
    },
    facts: { prices },
    secrets: { TOKEN },
    plugins: join(import.meta.dirname, "..", "..", "examples", "custom-plugin", "plugins.ts"),
  });
  const proxy = await startDelayProxy({ port: portOf(fn), roundTripMs: AWAY });
  return {
    url: `https://127.0.0.1:${proxy.port}`,
    async stop() {
      await proxy.stop();
      await fn.stop();
    },
  };
}

/** The binder, and the entry by which kube-scheduler asks it: all verbs, by names. */
export async function startRelayBinder(
  plane: ControlPlane,
  { profile, env }: { readonly profile: RelayProfile; readonly env: Readonly<Record<string, string>> },
): Promise<{ readonly binder: RunningBinder; readonly extenders: readonly JsonObject[] }> {
  const binder = await startBinder(plane, {
    name: `relay-${crypto.randomUUID()}`,
    configuration: {
      profiles: [{ name: "own", plugins: [] }],
      callers: [{ name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: [profile] }],
    },
    env: { BERTH_FUNCTION_TOKEN: TOKEN, BERTH_FUNCTION_PROFILES: profile, ...env },
  });
  const verbs = { filterVerb: "filter", prioritizeVerb: "prioritize", preemptVerb: "preempt", bindVerb: "bind" };
  return { binder, extenders: [{ ...byNames(`${binder.url}/${profile}`, binder.tlsConfig), ...verbs }] };
}

function portOf({ url }: RunningFunction): number {
  return Number(new URL(url).port);
}

function byNames(url: string, tlsConfig: JsonObject): JsonObject {
  return { urlPrefix: url, enableHTTPS: true, tlsConfig, weight: 1, nodeCacheCapable: true };
}
