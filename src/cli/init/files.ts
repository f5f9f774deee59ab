import { type Kit, SECRET_NAME } from "./answers.ts";

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
