import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "./controlplane.ts";
import { freePort } from "./ports.ts";
import { type RunningProcess, startProcess, waitUntilUp } from "./process.ts";
import { programPath } from "./programs.ts";
import { openTransport } from "./transport.ts";

/** Which kube-scheduler, and how it is configured. */
export interface SchedulerOptions {
  /** Such as `1.34.4`; its program must have been ensured. */
  readonly version: string;
  /**
   * Fields of KubeSchedulerConfiguration v1: `extenders`, `profiles`, `percentageOfNodesToScore`. Leader election is
   * off and clientConnection filled in unless said otherwise.
   */
  readonly config?: JsonObject;
  /** Requests per second of its own client, which is limited to 50 unless configured. Default 5,000. */
  readonly qps?: number;
  /** Further flags, such as `--feature-gates=SchedulerPopFromBackoffQ=false`. */
  readonly flags?: readonly string[];
  /** Of the log, `-v`. Default 2. */
  readonly verbosity?: number;
}

/** A running kube-scheduler; stopping its control plane stops it too. */
export interface Scheduler {
  readonly version: string;
  readonly url: string;
  readonly pid: number;
  readonly process: RunningProcess;
  logs(): string;
  /** Its metrics in Prometheus' text format. */
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

let started = 0;

/** Starts a kube-scheduler and waits until its caches are filled. Throws with the end of its log when it ends first. */
export async function startScheduler(plane: ControlPlane, options: SchedulerOptions): Promise<Scheduler> {
  started += 1;
  const name = `kube-scheduler-${options.version}-${started}`;
  const kubeconfig = await plane.kubeconfig("system:kube-scheduler");
  const configFile = join(plane.folder, `${name}.json`);
  await writeFile(configFile, JSON.stringify(configuration(kubeconfig, options), null, 2));
  const certificate = await plane.authority.issue({ name: "kube-scheduler" });
  const [certFile, keyFile] = [join(plane.folder, `${name}.crt`), join(plane.folder, `${name}.key`)];
  await writeFile(certFile, certificate.certPem);
  await writeFile(keyFile, certificate.keyPem, { mode: 0o600 });
  const port = await freePort();
  const process = startProcess({
    name,
    command: programPath({ name: "kube-scheduler", version: options.version }),
    args: [
      `--config=${configFile}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--tls-cert-file=${certFile}`,
      `--tls-private-key-file=${keyFile}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `-v=${options.verbosity ?? 2}`,
      ...(options.flags ?? []),
    ],
    folder: plane.folder,
  });
  const url = `https://127.0.0.1:${port}`;
  const transport = openTransport({ url, caPem: plane.caPem, token: plane.adminToken });
  const stop = async (): Promise<void> => {
    transport.close();
    await process.stop();
  };
  plane.onStop(stop);
  // readyz says yes only when the informers are synced and their handlers have run.
  await waitUntilUp(process, async () => (await transport.send({ method: "GET", path: "/readyz" })).status === 200);
  const metrics = async (): Promise<string> => (await transport.send({ method: "GET", path: "/metrics" })).text;
  return { version: options.version, url, pid: process.pid, process, logs: process.logs, metrics, stop };
}

function configuration(kubeconfig: string, options: SchedulerOptions): JsonObject {
  const qps = options.qps ?? 5_000;
  return {
    apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration",
    leaderElection: { leaderElect: false },
    clientConnection: { kubeconfig, qps, burst: 2 * qps },
    ...options.config,
  };
}
