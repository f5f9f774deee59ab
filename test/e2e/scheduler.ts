import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { KubeObject, Pod } from "../controlplane/objects.ts";
import { freePort } from "../controlplane/ports.ts";
import { type RunningProcess, startProcess, waitUntilUp } from "../controlplane/process.ts";

const root = join(import.meta.dirname, "..", "..");

/** The names that infra/scheduler gives. */
export const SCHEDULER = "berth";
export const NAMESPACE = "berth-system";
export const ACCOUNT = "berth-scheduler";

/** Creates what `kubectl apply -k infra/scheduler` would, with changes to it if the test says so. */
export async function applyScheduler(
  { api }: ControlPlane,
  change: (object: KubeObject) => KubeObject = (object) => object,
): Promise<void> {
  for (const file of ["crd/nodeledgers", "scheduler/namespace", "scheduler/rbac", "scheduler/devices"]) {
    const text = await readFile(join(root, "infra", `${file}.yaml`), "utf8");
    for (const document of parseAllDocuments(text)) {
      const object = change(document.toJS() as KubeObject);
      if ((await api.find(object)) === undefined) await api.create(object);
    }
  }
  const ledgers = { apiVersion: "berth.dev/v1alpha1", kind: "NodeLedger" };
  await eventually("ledgers are served", () => api.list(ledgers).then(() => true));
}

/** A scheduler in a process of its own. */
export interface RunningScheduler {
  readonly process: RunningProcess;
  readonly url: string;
  logs(): string;
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
  stop(): Promise<void>;
}

/** How a scheduler is started. */
export interface SchedulerStart {
  /** Of the process; the scheduler's own name is {@link SCHEDULER} unless `args` say otherwise. */
  readonly name: string;
  readonly schedulerName?: string;
  /** `watch` serves no probes: it is there once it says so. */
  readonly mode?: "informer" | "watch";
  /** Plugins of the one profile; absent: the default plugins. */
  readonly plugins?: readonly JsonObject[];
  readonly args?: readonly string[];
  /** Default: the service account of infra/. */
  readonly kubeconfig?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `berth schedule` under its own service account and waits until it is ready. */
export async function startBerth(plane: ControlPlane, start: SchedulerStart): Promise<RunningScheduler> {
  const port = await freePort();
  const args = await argumentsOf(plane, start);
  const running = startProcess({
    name: start.name,
    folder: plane.folder,
    command: process.execPath,
    args: [join(root, "src/cli/berth.js"), ...args, "--listen", `127.0.0.1:${port}`],
    ...(start.env && { env: start.env }),
  });
  plane.onStop(() => running.stop());
  const url = `http://127.0.0.1:${port}`;
  const get = async (path: string) => {
    const answer = await fetch(`${url}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  await waitUntilUp(running, async () =>
    start.mode === "watch" ? running.logs().includes('"scheduling"') : (await get("/readyz")).status === 200,
  );
  return { process: running, url, logs: running.logs, get, stop: () => running.stop() };
}

/** The arguments of `berth`, with the policy written to a file. */
export async function argumentsOf(plane: ControlPlane, start: SchedulerStart): Promise<string[]> {
  const kubeconfig = start.kubeconfig ?? (await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT));
  const args = ["schedule", "--scheduler-name", start.schedulerName ?? SCHEDULER, "--kubeconfig", kubeconfig];
  if (start.mode !== undefined) args.push("--mode", start.mode);
  if (start.plugins !== undefined) args.push("--config", await writePolicy(plane, start.name, start.plugins));
  return [...args, "--lease-namespace", NAMESPACE, ...(start.args ?? [])];
}

async function writePolicy(plane: ControlPlane, name: string, plugins: readonly JsonObject[]): Promise<string> {
  const file = join(plane.folder, `${name}.yaml`);
  const profiles = [{ name: "test", plugins: [...plugins] }];
  await writeFile(file, stringify({ apiVersion: "berth.dev/v1alpha1", kind: "PolicyConfiguration", profiles }));
  return file;
}

/** How often each event about a pod has happened, as `<reason>`. */
export async function eventsOf({ api }: ControlPlane, pod: Pod): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const event of await api.events(pod)) {
    const series = event["series"] as { readonly count: number } | undefined;
    counts[event.reason ?? ""] = (counts[event.reason ?? ""] ?? 0) + (series?.count ?? 1);
  }
  return counts;
}

/** Waits until a pod has an event of a reason, and gives its text and who reports. */
export function told(
  { api }: ControlPlane,
  pod: Pod,
  reason: string,
): Promise<{ readonly message: string; readonly type: string; readonly by: string }> {
  return eventually(`pod ${pod.metadata.name} has an event ${reason}`, async (saw) => {
    const events = await api.events(pod);
    saw(events.map((event) => `${event.reason}: ${event.message}`));
    const found = events.find((event) => event.reason === reason);
    return found && { message: found.message ?? "", type: String(found["type"]), by: reporterOf(found) };
  });
}

function reporterOf(event: KubeObject): string {
  return String(event["reportingComponent"] ?? "");
}
