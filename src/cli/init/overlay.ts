import { stringify } from "yaml";
import { type Kit, SECRET_NAME, SERVICES } from "./answers.ts";
import type { KitFile } from "./files.ts";

/** kustomization.yaml over a copy of infra/; undefined where nothing runs in the cluster. */
export function kustomizationFile(kit: Kit): KitFile | undefined {
  if (!kit.binder && kit.place !== "cluster") return undefined;
  const functionInside = kit.place === "cluster";
  const text = stringify(
    {
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      resources: [baseOf(kit), ...(functionInside ? ["infra/function"] : [])],
      ...imageOf(kit),
      configMapGenerator: [
        ...policies(kit),
        ...(kit.wiring === "second-scheduler"
          ? [{ ...generated("berth-scheduler-config", ["scheduler.yaml"]), behavior: "replace" }]
          : []),
      ],
      secretGenerator: secrets(kit),
      ...patches(kit),
    },
    { lineWidth: 0 },
  );
  const head =
    "# kubectl apply -k . Names of policies and Secrets end in a hash of their content: a change rolls the programs.\n";
  return { path: "kustomization.yaml", text: head + text };
}

/** A binder that relays has a policy file of its own, beside the function's. */
function policies({ wiring, place }: Kit) {
  if (wiring !== "relay") return [generated("berth-policy", ["berth.yaml", "facts.json"])];
  const own = generated("berth-policy", ["berth.yaml=binder/berth.yaml", "facts.json"]);
  return place === "cluster" ? [own, generated("berth-function-policy", ["berth.yaml", "facts.json"])] : [own];
}

function baseOf({ wiring, binder }: Kit): string {
  if (wiring === "second-scheduler") return "second-scheduler";
  return binder ? "infra/binder" : "infra/binder/namespace.yaml";
}

/** The second scheduler's image is of the cluster's own version, where that was given in full. */
function imageOf({ wiring, kubernetesVersion }: Kit) {
  const [, version] = /^v?(\d+\.\d+\.\d+)/.exec(kubernetesVersion) ?? [];
  if (wiring !== "second-scheduler" || version === undefined) return {};
  return { images: [{ name: "registry.k8s.io/kube-scheduler", newTag: `v${version}` }] };
}

/** A layer below: what a component generates can be replaced only from above. Undefined without a second scheduler. */
export function layerFile({ wiring }: Kit): KitFile | undefined {
  if (wiring !== "second-scheduler") return undefined;
  const text = stringify({
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: ["../infra/binder"],
    components: ["../infra/components/second-scheduler"],
  });
  return { path: "second-scheduler/kustomization.yaml", text };
}

function generated(name: string, files: readonly string[]) {
  return { name, namespace: "berth-system", files };
}

function secrets(kit: Kit) {
  const pair = (name: string, of: "server" | "client") => ({
    ...generated(name, [`tls.crt=certs/${of}.crt`, `tls.key=certs/${of}.key`, "ca.crt=certs/ca.crt"]),
    type: "kubernetes.io/tls",
  });
  return [
    ...(kit.binder ? [pair("berth-binder-tls", "server")] : []),
    ...(kit.place === "cluster" ? [pair("berth-function-tls", "server")] : []),
    ...(kit.wiring === "second-scheduler" ? [pair("berth-scheduler-client", "client")] : []),
    ...(kit.wiring === "relay"
      ? [generated("berth-function-token", ["token=secrets/token", "ca.crt=certs/ca.crt"])]
      : []),
  ];
}

function patches(kit: Kit) {
  const all = [
    ...(kit.wiring === "relay" ? [binderPatch(kit)] : []),
    ...(kit.wiring === "relay" && kit.place === "cluster" ? [functionPatch()] : []),
    ...(kit.clusterIp === undefined ? [] : [addressPatch(kit, kit.clusterIp)]),
  ].map((object) => ({ patch: stringify(object) }));
  return all.length === 0 ? {} : { patches: all };
}

function binderPatch(kit: Kit) {
  const inside = kit.place === "cluster";
  return deployment("berth-binder", {
    containers: [
      {
        name: "binder",
        env: [
          { name: "BERTH_FUNCTION_URL", value: inside ? `https://${SERVICES.function}` : kit.functionUrl },
          { name: "BERTH_FUNCTION_PROFILES", value: kit.profile },
          { name: "BERTH_FUNCTION_TOKEN_FILE", value: "/function/token" },
          ...(inside ? [{ name: "BERTH_FUNCTION_CA", value: "/function/ca.crt" }] : []),
        ],
        volumeMounts: [{ name: "function", mountPath: "/function", readOnly: true }],
      },
    ],
    volumes: [{ name: "function", secret: { secretName: "berth-function-token" } }],
  });
}

function functionPatch() {
  const secretKeyRef = { name: "berth-function-token", key: "token" };
  return deployment("berth-function", {
    containers: [{ name: "function", env: [{ name: SECRET_NAME, valueFrom: { secretKeyRef } }] }],
    volumes: [{ name: "policy", configMap: { name: "berth-function-policy" } }],
  });
}

function addressPatch(kit: Kit, clusterIP: string) {
  const name = kit.binder ? "berth-binder" : "berth-function";
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "berth-system" }, spec: { clusterIP } };
}

function deployment(name: string, spec: object) {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "berth-system" },
    spec: { template: { spec } },
  };
}
