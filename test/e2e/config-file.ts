import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import { waitUntilHealthy } from "../controlplane/healthy.ts";
import { freePort } from "../controlplane/ports.ts";
import { type RunningProcess, startProcess } from "../controlplane/process.ts";
import { programPath } from "../controlplane/programs.ts";

/** What kube-scheduler is started with: a file as it stands, and flags beside --config. */
export interface FileStart {
  readonly version: string;
  readonly text: string;
  readonly flags?: readonly string[];
}

let started = 0;

/** Starts kube-scheduler with a file as it stands and waits until it is ready. Throws with its log when it ends first. */
export async function startWithFile(plane: ControlPlane, start: FileStart): Promise<RunningProcess> {
  started += 1;
  const name = `scheduler-file-${started}`;
  const file = join(plane.folder, `${name}.yaml`);
  await writeFile(file, start.text);
  const { certPem, keyPem } = await plane.authority.issue({ name: "kube-scheduler" });
  const [certFile, keyFile] = [join(plane.folder, `${name}.crt`), join(plane.folder, `${name}.key`)];
  await writeFile(certFile, certPem);
  await writeFile(keyFile, keyPem, { mode: 0o600 });
  const port = await freePort();
  const process = startProcess({
    name,
    command: programPath({ name: "kube-scheduler", version: start.version }),
    args: [
      `--config=${file}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--tls-cert-file=${certFile}`,
      `--tls-private-key-file=${keyFile}`,
      "-v=2",
      ...(start.flags ?? []),
    ],
    folder: plane.folder,
  });
  plane.onStop(() => process.stop());
  await waitUntilHealthy(process, { url: `https://127.0.0.1:${port}`, caPem: plane.caPem });
  return process;
}
