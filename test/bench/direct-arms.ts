import { join } from "node:path";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { startGoExtender } from "../controlplane/goextender.ts";
import { startOracle } from "../controlplane/oracle.ts";
import { type FunctionPolicy, type RunningFunction, startOnNode } from "../e2e/function.ts";
import { startWorkerd } from "../e2e/workerd.ts";
import { startDelayProxy } from "./delay-proxy.ts";
import { berthYaml, factsJson, goPolicy, POOL, prices, REQUIRED } from "./scenario.ts";

/** An extender for whole nodes, running. */
export interface DirectArm {
  /** Its urlPrefix. */
  readonly url: string;
  readonly pid?: number;
  stop(): Promise<void>;
}

/** A way to answer. */
export interface DirectRival {
  readonly name: string;
  start(plane: ControlPlane): Promise<DirectArm>;
}

/** Answers with the request's own bytes and parses nothing: the limit. */
export const oracle: DirectRival = {
  name: "oracle that parses nothing",
  async start(plane) {
    return startOracle(`"${POOL}":"retiring"`, { folder: plane.folder, tls: await tls(plane, "oracle") });
  },
};

/** The official types and encoding/json. */
export const goExtender: DirectRival = {
  name: "Go, encoding/json",
  async start(plane) {
    return startGoExtender({ policy: goPolicy, folder: plane.folder, tls: await tls(plane, "goextender") });
  },
};

/** The function on Node, over HTTP/2. */
export const onNode: DirectRival = {
  name: "Berth on Node",
  start: async (plane) => armOf(await startOnNode(plane, policy)),
};

/**
 * The function in workerd, over HTTP/1.1, which is all that it serves; in workerd itself, for `wrangler dev` takes every
 * byte through a proxy of its own first.
 */
export const inWorkerd: DirectRival = {
  name: "Berth in workerd",
  async start(plane) {
    return startWorkerd({
      folder: join(plane.folder, "workerd"),
      policy: { config: berthYaml, facts: factsJson },
      heapMb: ISOLATE_MB,
      bodyLimit: BODY_LIMIT,
      tls: await tls(plane, "worker"),
    });
  },
};

/** What Cloudflare gives an isolate. */
const ISOLATE_MB = 128;

/** 1,000 nodes of 13.5 KB and more. */
const BODY_LIMIT = 32 * 1024 * 1024;

/** The same at a distance. */
export function away(rival: DirectRival, roundTripMs: number): DirectRival {
  return {
    name: rival.name,
    async start(plane) {
      const arm = await rival.start(plane);
      const url = new URL(arm.url);
      const proxy = await startDelayProxy({ port: Number(url.port), roundTripMs });
      url.port = String(proxy.port);
      return {
        ...arm,
        url: url.href.replace(/\/$/, ""),
        async stop() {
          await proxy.stop();
          await arm.stop();
        },
      };
    },
  };
}

/** An extender's entry for whole nodes; `verbs` says what it is asked. */
export function wholeNodes(plane: ControlPlane, { url }: DirectArm, verbs: JsonObject): JsonObject {
  const tlsConfig = { caData: Buffer.from(plane.caPem).toString("base64") };
  return { urlPrefix: url, enableHTTPS: true, tlsConfig, weight: 1, httpTimeout: "60s", ...verbs };
}

const SECRET = "a-path-secret-for-benchmarks";

const policy: FunctionPolicy = {
  configuration: {
    profiles: [
      { name: "default", plugins: [{ name: "NodeLabel", args: { require: REQUIRED } }, { name: "NodeCost" }] },
    ],
    callers: [{ name: "kube-scheduler", credentials: [{ path: "SECRET" }], profiles: ["default"] }],
  },
  facts: { prices },
  secrets: { SECRET },
};

function armOf(running: RunningFunction): DirectArm {
  return { url: `${running.url}/${SECRET}/default`, stop: () => running.stop() };
}

async function tls(plane: ControlPlane, name: string) {
  return { ...(await plane.authority.issue({ name })), caPem: plane.caPem };
}
