import { readFile } from "node:fs/promises";
import { Agent } from "undici";
import { parse } from "yaml";
import { deviceAssignedEvent, scheduledEvent } from "../../src/binder/events.ts";
import { type EventDraft, eventObject } from "../../src/cluster/event-object.ts";
import { assignmentAnnotations } from "../../src/placement/gpushare.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { startAsker } from "../controlplane/asker.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { ACCOUNT, NAMESPACE, startBinder } from "../e2e/binder.ts";
import { MEMORY, type Target } from "./binder-targets.ts";

/** One way to have pods bound. */
export interface Arm {
  readonly name: string;
  /** The binder's process; absent where there is none. */
  readonly pid?: number;
  /** Binds one pod; the events about it may still be under way. */
  bind(target: Target): Promise<void>;
  /** Settles when every event about the pods bound so far is written. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export type StartArm = (plane: ControlPlane) => Promise<Arm>;

const PROFILE = "gpu";

const CONFIGURATION = {
  profiles: [{ name: PROFILE, plugins: [{ name: "GpuMemory", args: { whenUnknown: "reject" } }] }],
  callers: [{ name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: [PROFILE] }],
};

/** A pooled client that posts to the API server what the binder would, under the binder's account, and nothing else. */
export const bare: StartArm = async (plane) => {
  const { post, close } = await apiServer(plane);
  const events: Promise<void>[] = [];
  let assumeTime = BigInt(Date.now()) * 1_000_000n;
  const record = (draft: EventDraft) => events.push(post(eventsPath(draft), eventOf(draft)));
  return {
    name: "bare client",
    async bind(target) {
      const device = target.kind === "device";
      await post(bindingPath(target), binding(target, device ? deviceOf(++assumeTime) : {}));
      if (device) record(deviceAssignedEvent(target, { ...CLAIM, podUid: target.uid }));
    },
    settled: async () => void (await Promise.all(events.splice(0))),
    stop: close,
  };
};

/** The binder, asked by a client of Go as kube-scheduler has it, over HTTP/2 with a client certificate. */
export const binder: StartArm = async (plane) => {
  const running = await startBinder(plane, { name: `binder-${crypto.randomUUID()}`, configuration: CONFIGURATION });
  const text = (key: string) => Buffer.from(String(running.tlsConfig[key]), "base64").toString();
  const asker = await startAsker({
    url: `${running.url}/${PROFILE}/bind`,
    ca: text("caData"),
    cert: text("certData"),
    key: text("keyData"),
    folder: plane.folder,
  });
  let expected = 0;
  return {
    name: "binder",
    pid: running.process.pid,
    async bind(target) {
      const body = { PodName: target.name, PodNamespace: target.namespace, PodUID: target.uid, Node: target.node };
      // kube-scheduler tries again, too: on a busy machine an answer of the API server may be late.
      for (let tries = 0, said = await asker.bind(body); said !== ""; said = await asker.bind(body)) {
        if (++tries === 5) throw new Error(`${target.name} was not bound: ${said}`);
      }
      if (target.kind === "device") expected++;
    },
    async settled() {
      while (expected > 0 && (await eventsSent(running.get)) < expected) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async stop() {
      await asker.stop();
      await running.stop();
    },
  };
};

/** The same arm with a caller that writes `Scheduled` after each bind, as kube-scheduler does, whoever has bound. */
export function withScheduled(start: StartArm): StartArm {
  return async (plane) => {
    const arm = await start(plane);
    const { post, close } = await apiServer(plane);
    const events: Promise<void>[] = [];
    return {
      ...arm,
      async bind(target) {
        await arm.bind(target);
        const draft = scheduledEvent(target);
        events.push(post(eventsPath(draft), eventOf(draft)));
      },
      async settled() {
        await Promise.all([arm.settled(), ...events.splice(0)]);
      },
      async stop() {
        await arm.stop();
        await close();
      },
    };
  };
}

async function eventsSent(get: (path: string) => Promise<{ readonly text: string }>): Promise<number> {
  const { events } = JSON.parse((await get("/readyz")).text) as {
    readonly events: { readonly sent: number; readonly failed: Readonly<Record<string, number>> };
  };
  if (Object.keys(events.failed).length > 0) throw new Error(`events were lost: ${JSON.stringify(events.failed)}`);
  return events.sent;
}

async function apiServer(plane: ControlPlane) {
  const kubeconfig = parse(await readFile(await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT), "utf8"));
  const authorization = `Bearer ${kubeconfig.users[0].user.token}`;
  const agent = new Agent({ connections: 32, allowH2: false, connect: { ca: plane.caPem } });
  const post = async (path: string, body: JsonObject): Promise<void> => {
    const answer = await agent.request({
      origin: plane.url,
      path,
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/json", Authorization: authorization },
      body: JSON.stringify(body),
    });
    if (answer.statusCode !== 201) throw new Error(`${path}: ${answer.statusCode} ${await answer.body.text()}`);
    await answer.body.dump();
  };
  return { post, close: () => agent.close() };
}

const CLAIM = {
  id: "",
  namespace: "",
  podName: "",
  device: "0",
  amount: BigInt(MEMORY.pod),
  claimedAt: 0,
  assumeTime: 0n,
};

function deviceOf(assumeTime: bigint): Readonly<Record<string, string>> {
  const slot = { id: "0", total: BigInt(MEMORY.card), healthy: true };
  return assignmentAnnotations({ slot, request: BigInt(MEMORY.pod), assumeTime });
}

function bindingPath({ namespace, name }: Target): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}/binding`;
}

function binding(target: Target, device: Readonly<Record<string, string>>): JsonObject {
  const { namespace, name, uid, resourceVersion, node, kind } = target;
  const annotations = { "berth.dev/policy": "gpu@0123456789ab", ...device };
  return {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { namespace, name, uid, ...(kind === "device" && { resourceVersion }), annotations },
    target: { apiVersion: "v1", kind: "Node", name: node },
  };
}

function eventsPath({ regarding }: EventDraft): string {
  return `/apis/events.k8s.io/v1/namespaces/${regarding.namespace}/events`;
}

function eventOf(draft: EventDraft): JsonObject {
  const now = Date.now();
  const id = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  const reporter = { controller: "berth.dev/bench", instance: "bench" };
  return eventObject(draft, reporter, { id, happened: { count: 1, first: now, last: now } });
}
