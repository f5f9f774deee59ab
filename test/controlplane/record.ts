/*
 * Records what each served kube-scheduler sends to an extender, as the bodies that every runtime is tested with:
 * `npm run conformance:record [-- VERSION…]` writes `test/conformance/v<version>/<verb>.<form>.json`, the body byte for
 * byte, and beside it `<verb>.<form>.request.json`, the request line and headers.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { say } from "./build.ts";
import { type ControlPlane, startControlPlane } from "./controlplane.ts";
import { eventually } from "./eventually.ts";
import { buildNodes, createNodes } from "./nodes.ts";
import type { Pod } from "./objects.ts";
import { buildFullPod } from "./pods.ts";
import { controlPlanePrograms, requirePrograms, schedulerVersions } from "./programs.ts";
import { type Recorded, startRecorder } from "./recorder.ts";
import { startScheduler } from "./scheduler.ts";

const target = join(import.meta.dirname, "..", "conformance");
const forms = ["nodes", "names"] as const;
const verbs = ["filter", "prioritize"] as const;

type Form = (typeof forms)[number];

async function recordAll(versions: readonly string[]): Promise<void> {
  await requirePrograms(controlPlanePrograms(versions));
  const plane = await startControlPlane();
  try {
    const nodes = buildNodes(4, { seed: 37, images: 8 });
    const taints = [{ key: "dedicated", value: "checkout", effect: "NoSchedule" }];
    await createNodes(plane.api, [...nodes.slice(0, 3), ...buildNodes(4, { seed: 37, images: 8, taints }).slice(3)]);
    for (const version of versions) for (const form of forms) await record(plane, version, form);
  } finally {
    await plane.stop();
  }
}

async function record(plane: ControlPlane, version: string, form: Form): Promise<void> {
  const recorder = await startRecorder(plane.authority);
  const extender = {
    urlPrefix: `${recorder.url}/default`,
    filterVerb: "filter",
    prioritizeVerb: "prioritize",
    weight: 1,
    nodeCacheCapable: form === "names",
    enableHTTPS: true,
    tlsConfig: { caData: Buffer.from(plane.caPem).toString("base64") },
  };
  const scheduler = await startScheduler(plane, { version, config: { extenders: [extender] } });
  try {
    const manifest = buildFullPod({ name: "checkout-api", cpu: "500m", memory: "512Mi" });
    const pod = await plane.api.create(manifest, { fieldManager: "kube-controller-manager" });
    await eventually(`kube-scheduler ${version} binds the pod`, async (saw) => {
      saw(await plane.api.events(pod));
      return (await plane.api.get<Pod>(pod)).spec.nodeName;
    });
    await plane.api.remove(pod);
    for (const verb of verbs) await write(version, `${verb}.${form}`, requestOf(recorder.requests, verb));
  } finally {
    await scheduler.stop();
    await recorder.stop();
  }
}

function requestOf(requests: readonly Recorded[], verb: string): Recorded {
  const found = requests.find(({ path }) => path.endsWith(`/${verb}`));
  if (found === undefined) throw new Error(`kube-scheduler never sent ${verb}`);
  return found;
}

async function write(version: string, name: string, request: Recorded): Promise<void> {
  const folder = join(target, `v${version}`);
  await mkdir(folder, { recursive: true });
  const { authorization: _authorization, ...sent } = request.headers;
  const { method, path, httpVersion } = request;
  const headers = { ...sent, host: "extender.example" };
  await writeFile(join(folder, `${name}.json`), request.body);
  const about = JSON.stringify({ method, path, httpVersion, headers }, null, 2);
  await writeFile(join(folder, `${name}.request.json`), `${about}\n`);
  say(`recorded ${name} of kube-scheduler ${version}: ${request.body.length} bytes`);
}

const wanted = process.argv.slice(2);
await recordAll(wanted.length > 0 ? wanted : schedulerVersions);
