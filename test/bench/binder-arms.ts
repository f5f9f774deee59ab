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
import { inParallel, MEMORY, type Target } from "./binder-targets.ts";

/** One way to have pods bound. */
export interface Arm {
  readonly name: string;
  /** The binder's process; absent where there is none. */
  readonly pid?: number;
  /** Binds the pods, so many at a time, and settles when every event about them is written. */
  bindAll(targets: readonly Target[], parallel: number): Promise<void>;
  stop(): Promise<void>;
}

/** @param scheduled whether `Scheduled` is written after each bind, by the caller, as kube-scheduler does */
export type StartArm = (plane: ControlPlane, scheduled: boolean) => Promise<Arm>;

const PROFILE = "gpu";

const CONFIGURATION = {
  profiles: [{ name: PROFILE, plugins: [{ name: "GpuMemory", args: { whenUnknown: "reject" } }] }],
  callers: [{ name: "scheduler", credentials: [{ certificate: "kube-scheduler" }], profiles: [PROFILE] }],
};

/** A pooled client that posts to the API server what the binder would, under the binder's account, and nothing else. */
export const bare: StartArm = async (plane, scheduled) => {
  const { post, close } = await apiServer(plane);
  let assumeTime = BigInt(Date.now()) * 1_000_000n;
  return {
    name: "bare client",
    async bindAll(targets, parallel) {
      const events: Promise<void>[] = [];
      const record = (draft: EventDraft) => events.push(post(EVENTS, eventOf(draft)));
      await inParallel(targets, parallel, async (target) => {
        const device = target.kind === "device";
        await post(bindingPath(target), binding(target, device ? deviceOf(++assumeTime) : {}));
        if (device) record(deviceAssignedEvent(target, { ...CLAIM, podUid: target.uid }));
        if (scheduled) record(scheduledEvent(target));
      });
      await Promise.all(events);
    },
    stop: close,
  };
};

/** The binder, asked by a client of Go as kube-scheduler has it, over HTTP/2 with a client certificate. */
export const binder: StartArm = async (plane, scheduled) => {
  const running = await startBinder(plane, { name: `binder-${crypto.randomUUID()}`, configuration: CONFIGURATION });
  const text = (key: string) => Buffer.from(String(running.tlsConfig[key]), "base64").toString();
  const asker = await startAsker({
    url: `${running.url}/${PROFILE}/bind`,
    events: { url: `${plane.url}${EVENTS}`, token: await tokenOf(plane) },
    ca: text("caData"),
    cert: text("certData"),
    key: text("keyData"),
    folder: plane.folder,
  });
  let expected = 0;
  return {
    name: "binder",
    pid: running.process.pid,
    async bindAll(targets, parallel) {
      const binds = targets.map((target) => ({
        args: { PodName: target.name, PodNamespace: target.namespace, PodUID: target.uid, Node: target.node },
        ...(scheduled && { event: eventOf(scheduledEvent(target)) }),
      }));
      await asker.bindAll(binds, parallel);
      expected += targets.filter(({ kind }) => kind === "device").length;
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

async function eventsSent(get: (path: string) => Promise<{ readonly text: string }>): Promise<number> {
  const { events } = JSON.parse((await get("/readyz")).text) as {
    readonly events: { readonly sent: number; readonly failed: Readonly<Record<string, number>> };
  };
  if (Object.keys(events.failed).length > 0) throw new Error(`events were lost: ${JSON.stringify(events.failed)}`);
  return events.sent;
}

async function tokenOf(plane: ControlPlane): Promise<string> {
  const kubeconfig = parse(await readFile(await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT), "utf8"));
  return kubeconfig.users[0].user.token;
}

async function apiServer(plane: ControlPlane) {
  const authorization = `Bearer ${await tokenOf(plane)}`;
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

/** All pods are there. */
const EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";

function eventOf(draft: EventDraft): JsonObject {
  const now = Date.now();
  const id = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  const reporter = { controller: "berth.dev/bench", instance: "bench" };
  return eventObject(draft, reporter, { id, happened: { count: 1, first: now, last: now } });
}
