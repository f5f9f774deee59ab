import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Json, JsonObject } from "../../src/protocol/json.ts";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import type { KubeObject } from "../controlplane/objects.ts";

/** What a container's spec holds of interest to a kubelet. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly JsonObject[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly readinessProbe?: { readonly httpGet?: { path: string; port: string | number; scheme?: string } };
  readonly volumeMounts?: readonly { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
}

/** One variable of a container. */
export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: KeyRef;
    readonly configMapKeyRef?: KeyRef;
  };
}

interface KeyRef {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

/** A pod template's spec. */
export interface PodSpec {
  readonly serviceAccountName?: string;
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

type Volume = { readonly name: string } & Readonly<Record<string, JsonObject | string>>;

/** The pod that a volume or a variable belongs to. */
export interface PodFacts {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly serviceAccount: string;
  readonly spec: PodSpec;
}

/**
 * Writes the files of a container's volumes below a folder: Secrets, ConfigMaps, projected volumes (their service
 * account tokens as well) and empty folders. Throws for an object that is missing, as a kubelet would not start it.
 *
 * @param edit what becomes of a file's text
 */
export async function writeVolumes(
  plane: ControlPlane,
  pod: PodFacts,
  mounts: { readonly container: Container; readonly root: string; edit(text: string): string },
): Promise<void> {
  for (const mount of mounts.container.volumeMounts ?? []) {
    const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
    if (volume === undefined) throw new Error(`the volume ${mount.name} of ${pod.name} is not declared`);
    const folder = join(mounts.root, mount.mountPath);
    await mkdir(folder, { recursive: true });
    for (const [path, content] of Object.entries(await filesOf(plane, pod, volume))) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), mounts.edit(content), { mode: 0o600 });
    }
  }
}

type Files = Readonly<Record<string, string>>;

async function filesOf(plane: ControlPlane, pod: PodFacts, volume: Volume): Promise<Files> {
  const { secret, configMap, projected, emptyDir } = volume as Readonly<Record<string, JsonObject | undefined>>;
  if (emptyDir) return {};
  if (secret) return pick(await contentOf(plane, "Secret", pod.namespace, String(secret["secretName"])), secret);
  if (configMap) return pick(await contentOf(plane, "ConfigMap", pod.namespace, String(configMap["name"])), configMap);
  if (projected) {
    const sources = (projected["sources"] ?? []) as readonly JsonObject[];
    const all = await Promise.all(sources.map((source) => sourceFiles(plane, pod, source)));
    return Object.assign({}, ...all);
  }
  throw new Error(`the volume ${volume.name} of ${pod.name} is of a kind that this runner does not know`);
}

async function sourceFiles(plane: ControlPlane, pod: PodFacts, source: JsonObject): Promise<Files> {
  const { secret, configMap, serviceAccountToken: token } = source as Readonly<Record<string, JsonObject | undefined>>;
  if (secret) return pick(await contentOf(plane, "Secret", pod.namespace, String(secret["name"])), secret);
  if (configMap) return pick(await contentOf(plane, "ConfigMap", pod.namespace, String(configMap["name"])), configMap);
  if (token) return { [String(token["path"])]: await accountToken(plane, pod, token["audience"]) };
  throw new Error(`a projected source of ${pod.name} is of a kind that this runner does not know`);
}

async function accountToken(plane: ControlPlane, pod: PodFacts, audience?: Json): Promise<string> {
  const answer = await plane.api.request<{ status: { token: string } }>({
    method: "POST",
    path: `/api/v1/namespaces/${pod.namespace}/serviceaccounts/${pod.serviceAccount}/token`,
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 3600, ...(audience !== undefined && { audiences: [audience] }) },
    },
  });
  return answer.status.token;
}

/** The keys of a Secret or ConfigMap as text. */
export async function contentOf(
  plane: ControlPlane,
  kind: "Secret" | "ConfigMap",
  namespace: string,
  name: string,
): Promise<Files> {
  const object = await plane.api.get<KubeObject>({ apiVersion: "v1", kind, metadata: { name, namespace } });
  const data = (object["data"] ?? {}) as Files;
  if (kind === "ConfigMap") return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}

/** All keys, or those that `items` names under the paths that it gives. */
function pick(content: Files, { items }: JsonObject): Files {
  if (!Array.isArray(items)) return content;
  const entries = (items as readonly JsonObject[]).map(({ key, path }) => [path, content[String(key)]]);
  const missing = entries.find(([, value]) => value === undefined);
  if (missing) throw new Error(`no key for the file ${missing[0]}`);
  return Object.fromEntries(entries);
}

/** The environment of a container, its references followed. */
export async function environment(
  plane: ControlPlane,
  pod: PodFacts,
  container: Container,
): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const source of container.envFrom ?? []) Object.assign(result, await allOf(plane, pod, source));
  for (const variable of container.env ?? []) {
    const value = variable.value ?? (await valueFrom(plane, pod, variable));
    if (value !== undefined) result[variable.name] = value;
  }
  return result;
}

async function allOf(plane: ControlPlane, pod: PodFacts, { secretRef, configMapRef }: JsonObject): Promise<Files> {
  const [kind, ref] = secretRef ? (["Secret", secretRef] as const) : (["ConfigMap", configMapRef] as const);
  return contentOf(plane, kind, pod.namespace, String((ref as JsonObject)["name"]));
}

async function valueFrom(plane: ControlPlane, pod: PodFacts, { name, valueFrom }: EnvVar): Promise<string | undefined> {
  const { fieldRef, secretKeyRef, configMapKeyRef } = valueFrom ?? {};
  if (fieldRef) return field(pod, fieldRef.fieldPath);
  const [kind, ref] = secretKeyRef ? (["Secret", secretKeyRef] as const) : (["ConfigMap", configMapKeyRef] as const);
  if (ref === undefined) throw new Error(`the variable ${name} of ${pod.name} has no value`);
  try {
    const value = (await contentOf(plane, kind, pod.namespace, ref.name))[ref.key];
    if (value !== undefined) return value;
    throw new Error(`the ${kind} ${ref.name} has no key ${ref.key} for the variable ${name}`);
  } catch (error) {
    if (ref.optional) return undefined;
    throw error;
  }
}

function field(pod: PodFacts, path: string): string {
  const fields: Readonly<Record<string, string>> = {
    "metadata.name": pod.name,
    "metadata.namespace": pod.namespace,
    "metadata.uid": pod.uid,
    "spec.nodeName": "this-machine",
    "spec.serviceAccountName": pod.serviceAccount,
    "status.podIP": "127.0.0.1",
    "status.hostIP": "127.0.0.1",
  };
  const value = fields[path];
  if (value === undefined) throw new Error(`the field ${path} is not one that this runner knows`);
  return value;
}
