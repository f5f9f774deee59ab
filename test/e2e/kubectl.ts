import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import type { KubeObject } from "../controlplane/objects.ts";

const root = join(import.meta.dirname, "..", "..");

/** How a command of kubectl ended. */
export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl as the cluster's admin, in the checkout. Never rejects but where kubectl is missing. */
export async function kubectl(plane: ControlPlane, args: readonly string[]): Promise<KubectlResult> {
  const kubeconfig = await plane.kubeconfig("admin");
  return execute(["--kubeconfig", kubeconfig, "--cache-dir", join(plane.folder, "kubectl-cache"), ...args]);
}

/** What kustomize makes of a folder of infra/, or of any folder by its absolute path. Throws with its words. */
export async function kustomize(folder: string): Promise<KubeObject[]> {
  const { code, stdout, stderr } = await execute(["kustomize", folderOf(folder)]);
  if (code !== 0 || stderr !== "") throw new Error(`kubectl kustomize ${folder}: ${stderr}`);
  return parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
}

/** How a kustomization is applied. */
export interface ApplyOptions {
  /** True: the server checks everything and keeps nothing. */
  readonly dryRun?: boolean;
}

/**
 * Applies a folder of infra/ on the server's side, as `kubectl apply -k` does, and gives what kubectl wrote for each
 * object. A warning of the API server is an error. Throws with kubectl's words.
 */
export async function applyKustomization(
  plane: ControlPlane,
  folder: string,
  options: ApplyOptions = {},
): Promise<string[]> {
  const args = ["apply", "-k", folderOf(folder), "--server-side", "--warnings-as-errors"];
  const { code, stdout, stderr } = await kubectl(plane, [...args, ...(options.dryRun ? ["--dry-run=server"] : [])]);
  if (code !== 0 || stderr !== "") throw new Error(`kubectl apply -k ${folder}: ${stderr || `exit code ${code}`}`);
  return stdout.trimEnd().split("\n");
}

/** Every folder below infra/ that `kubectl apply -k` takes, such as `overlays/dev`; components are not among them. */
export async function kustomizations(): Promise<string[]> {
  const files = await readdir(join(root, "infra"), { recursive: true });
  return files
    .filter((file) => file.endsWith("kustomization.yaml") && !file.startsWith("components/"))
    .map((file) => file.replace(/\/kustomization\.yaml$/, ""))
    .sort();
}

function folderOf(folder: string): string {
  return folder.startsWith("/") ? folder : join(root, "infra", folder);
}

async function execute(args: readonly string[]): Promise<KubectlResult> {
  try {
    const { stdout, stderr } = await promisify(execFile)("kubectl", [...args], { cwd: root, maxBuffer: 2 ** 24 });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (code === "ENOENT") throw new Error("this test runs kubectl, which is not on the PATH: install it");
    return { code: typeof code === "number" ? code : 1, stdout, stderr };
  }
}
