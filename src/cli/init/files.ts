import { stringify } from "yaml";
import { type Kit, SECRET_NAME, SERVICES } from "./answers.ts";

/** A file of the kit. */
export interface KitFile {
  /** From the kit's folder. */
  readonly path: string;
  readonly text: string;
  /** True: mode 0600. */
  readonly secret?: boolean;
}

/** berth.yaml: a policy to begin with, and who may ask it. */
export function policyFile(kit: Kit): KitFile {
  const plugins = [
    ...(kit.wiring === "binder-only"
      ? []
      : ["      # Prices and commitments are in facts.json.", "      - name: NodeCost", "        weight: 3"]),
    ...(kit.binder
      ? [
          "      # One device for each pod that asks for aliyun.com/gpu-mem.",
          "      - name: GpuMemory",
          "        weight: 1",
        ]
      : []),
  ];
  const credentials = credentialsOf(kit);
  const text = `# Which plugins judge the pods that this cluster asks about: npx berth policy check tells whether it is right.
apiVersion: berth.dev/v1alpha1
kind: PolicyConfiguration

profiles:
  - name: ${kit.profile}
    plugins:
${plugins.join("\n")}

# Who may ask, and for what.
callers:
  - name: this-cluster
    credentials:
${credentials.join("\n")}
    profiles: [${kit.profile}]
`;
  return { path: "berth.yaml", text };
}

const CERTIFICATE = [
  "      # The common name of certs/client.crt, which kube-scheduler presents.",
  "      - certificate: kube-scheduler",
];

/** Who asks the policy of berth.yaml: in a relay the binder, everywhere else kube-scheduler. */
function credentialsOf({ wiring, place }: Kit): readonly string[] {
  if (wiring === "relay")
    return ["      # The binder's own token, which is in secrets/.", `      - bearer: ${SECRET_NAME}`];
  if (place !== "workers") return CERTIFICATE;
  return [
    "      # In the URL that kube-scheduler calls; its value is in secrets/function.env.",
    `      - path: ${SECRET_NAME}`,
  ];
}

/** The binder's berth.yaml where the policy comes from a function; undefined where berth.yaml is the binder's own. */
export function binderFile({ wiring, profile }: Kit): KitFile | undefined {
  if (wiring !== "relay") return undefined;
  const text = `# Who may ask the binder. The profile ${profile} comes from the function, whose policy is ../berth.yaml.
apiVersion: berth.dev/v1alpha1
kind: PolicyConfiguration
callers:
  - name: kube-scheduler
    credentials:
${CERTIFICATE.join("\n")}
    profiles: [${profile}]
`;
  return { path: "binder/berth.yaml", text };
}

/** facts.json: what a node costs, to be filled in. */
export function factsFile(): KitFile {
  const facts = {
    apiVersion: "berth.dev/v1alpha1",
    kind: "FleetFacts",
    currency: "USD",
    prices: [
      { match: { "node.kubernetes.io/instance-type": "m7i.large" }, perHour: 0.1208 },
      { match: { "node.kubernetes.io/instance-type": "m7i.xlarge" }, perHour: 0.2415 },
    ],
  };
  return { path: "facts.json", text: `${JSON.stringify(facts, null, 2)}\n` };
}

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
