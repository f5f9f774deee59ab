import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Agent, request } from "undici";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import type { KubeObject } from "../controlplane/objects.ts";
import { freePort } from "../controlplane/ports.ts";
import { type RunningProcess, startProcess, waitUntilUp } from "../controlplane/process.ts";
import { type Container, environment, type PodFacts, type PodSpec, writeVolumes } from "./kubelet-files.ts";
import { imageOf } from "./kubelet-images.ts";

/** Which workload of the cluster to run a pod of. */
export interface Workload {
  /** Default `Deployment`. */
  readonly kind?: "Deployment" | "DaemonSet";
  readonly namespace: string;
  readonly name: string;
}

/** What this machine cannot give a pod as a cluster would. */
export interface RunOptions {
  /**
   * Hosts that a cluster's DNS would know, such as `berth-binder.berth-system.svc`, each with the URL it stands for:
   * put in place of `https://<host>` in arguments, environment and mounted files.
   */
  readonly hosts?: Readonly<Record<string, string>>;
  /** The program that images `berth:…` hold. Default: this checkout's. */
  readonly program?: string;
  /** False: does not wait for the readiness probe. */
  readonly wait?: boolean;
}

/** A pod's one container, as a process of this machine. */
export interface RunningPod {
  readonly name: string;
  readonly process: RunningProcess;
  /** Where this machine reaches the container's port of this name or number, such as `https://127.0.0.1:40123`. */
  url(port: string | number): string;
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
  logs(): string;
  stop(): Promise<void>;
}

let started = 0;

/**
 * Plays the kubelet: takes a workload as the API server has it and starts its container on this machine, by its own
 * command, arguments, environment and mounted files, as its service account; then waits for its readiness probe.
 *
 * Four things differ from a node. Mounted files lie below a folder of their own, and whatever names such a path is
 * changed to it; ports are free ones, for the same machine runs several pods; DNS is `hosts`; and the service
 * account's token, which programs look for at one fixed path, is given by a kubeconfig file.
 */
export async function runPod(plane: ControlPlane, workload: Workload, options: RunOptions = {}): Promise<RunningPod> {
  const { pod, container } = await podOf(plane, workload);
  const folder = join(plane.folder, "pods", pod.name);
  const ports = await hostPorts(container);
  const translate = translation(container, { folder, ports, hosts: options.hosts ?? {} });
  const kubeconfig = await plane.serviceAccountKubeconfig(pod.namespace, pod.serviceAccount);
  const image = imageOf(container.image, options.program, kubeconfig);
  await mkdir(folder, { recursive: true });
  await writeVolumes(plane, pod, {
    container,
    root: folder,
    edit: (text) => image.edit(translate(text)),
  });
  const declared = await environment(plane, pod, container);
  const env = Object.fromEntries(Object.entries(declared).map(([name, value]) => [name, translate(value)]));
  const command = container.command ? image.command(container.command) : image.entrypoint;
  const running = startProcess({
    name: pod.name,
    folder: plane.folder,
    command: command[0] ?? "",
    args: [...command.slice(1), ...(container.args ?? [])].map(translate),
    env: { ...image.env, HOSTNAME: pod.name, ...env },
    cwd: folder,
  });
  plane.onStop(() => running.stop());
  const result = runningPod(running, { pod, container, ports });
  if (options.wait ?? true) await waitUntilReady(running, container, result);
  return result;
}

async function podOf(plane: ControlPlane, workload: Workload): Promise<{ pod: PodFacts; container: Container }> {
  const { kind = "Deployment", namespace, name } = workload;
  const object = await plane.api.get<KubeObject>({ apiVersion: "apps/v1", kind, metadata: { name, namespace } });
  const { template } = object["spec"] as unknown as { readonly template: { readonly spec: PodSpec } };
  const { spec } = template;
  const [container, ...more] = spec.containers;
  if (!container || more.length > 0) throw new Error(`${name} has not exactly one container`);
  started += 1;
  const serviceAccount = spec.serviceAccountName ?? "default";
  return { pod: { name: `${name}-${started}`, namespace, uid: randomUUID(), serviceAccount, spec }, container };
}

type Ports = ReadonlyMap<number, number>;

async function hostPorts(container: Container): Promise<Ports> {
  const pairs = (container.ports ?? []).map(
    async ({ containerPort }) => [containerPort, await freePort()] as [number, number],
  );
  return new Map(await Promise.all(pairs));
}

interface Translation {
  readonly folder: string;
  readonly ports: Ports;
  readonly hosts: Readonly<Record<string, string>>;
}

/** Paths of mounts, own ports and hosts of the cluster, as this machine knows them. */
function translation(container: Container, { folder, ports, hosts }: Translation): (text: string) => string {
  const changes: [RegExp, string][] = [
    ...(container.volumeMounts ?? []).map(({ mountPath }): [RegExp, string] => [
      new RegExp(`(?<![\\w./-])${literal(mountPath)}(?=/|$)`, "gm"),
      join(folder, mountPath),
    ]),
    ...Object.entries(hosts).map(([host, url]): [RegExp, string] => [
      new RegExp(`https?://${literal(host)}(?![\\w.-])(:\\d+)?`, "g"),
      url,
    ]),
    ...[...ports].map(([port, free]): [RegExp, string] => [new RegExp(`(?<=[:=])${port}$`, "g"), String(free)]),
    [/^0\.0\.0\.0(?=:\d+$)/g, "127.0.0.1"],
  ];
  return (text) => changes.reduce((result, [from, to]) => result.replace(from, () => to), text);
}

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function runningPod(
  running: RunningProcess,
  { pod, container, ports }: { pod: PodFacts; container: Container; ports: Ports },
): RunningPod {
  const scheme = container.readinessProbe?.httpGet?.scheme === "HTTPS" ? "https" : "http";
  const url = (port: string | number): string => {
    const declared = container.ports?.find(({ name, containerPort }) => name === port || containerPort === port);
    const free = declared && ports.get(declared.containerPort);
    if (free === undefined) throw new Error(`${pod.name} declares no port ${port}`);
    return `${scheme}://127.0.0.1:${free}`;
  };
  return {
    name: pod.name,
    process: running,
    url,
    async get(path) {
      const base = url(container.readinessProbe?.httpGet?.port ?? container.ports?.[0]?.containerPort ?? 0);
      // A kubelet does not look at the certificate of a probe either.
      const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
      try {
        const { statusCode, body } = await request(`${base}${path}`, { dispatcher });
        return { status: statusCode, text: await body.text() };
      } finally {
        await dispatcher.close();
      }
    },
    logs: running.logs,
    stop: () => running.stop(),
  };
}

async function waitUntilReady(running: RunningProcess, container: Container, pod: RunningPod): Promise<void> {
  const probe = container.readinessProbe?.httpGet;
  if (probe === undefined) return;
  await waitUntilUp(running, async () => {
    const { status } = await pod.get(probe.path);
    return status >= 200 && status < 400;
  });
}
