/** The ways to have kube-scheduler and Berth work together. */
export const WIRINGS = ["prioritize-only", "direct", "relay", "binder-only", "second-scheduler"] as const;
export type Wiring = (typeof WIRINGS)[number];

/** Where kube-scheduler runs; managed control planes let nobody configure theirs. */
export const PLATFORMS = {
  kubeadm: { kubeconfig: "/etc/kubernetes/scheduler.conf" },
  k3s: { kubeconfig: "/var/lib/rancher/k3s/server/cred/scheduler.kubeconfig" },
  rke2: { kubeconfig: "/var/lib/rancher/rke2/server/cred/scheduler.kubeconfig" },
  talos: { kubeconfig: "/system/secrets/kubernetes/kube-scheduler/kubeconfig" },
  // Its own resource for extenders has neither preempt nor bind: docs/platforms.md.
  deckhouse: { kubeconfig: undefined },
  eks: { kubeconfig: undefined },
  gke: { kubeconfig: undefined },
  aks: { kubeconfig: undefined },
} as const satisfies Readonly<Record<string, { readonly kubeconfig: string | undefined }>>;
export type Platform = keyof typeof PLATFORMS;

/** What a configuration is written from. */
export interface ConfigurationWish {
  readonly wiring: Wiring;
  /** Such as `1.37`. */
  readonly kubernetesVersion: string;
  /** Of berth.yaml: the last part of every path. */
  readonly profile: string;
  readonly platform: Platform;
  readonly functionUrl?: string;
  readonly binderUrl?: string;
  /** Files by the names that kube-scheduler opens them by. */
  readonly caFile?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
  /** Base64 of a PEM file, to stand in the configuration itself. */
  readonly caData?: string;
  /** The name that the server's certificate has, where the URL has another. */
  readonly serverName?: string;
  /** Only pods that ask for one of them concern the extender; `ignored` ones are not counted by kube-scheduler. */
  readonly managedResources: readonly { readonly name: string; readonly ignored: boolean }[];
  readonly weight: number;
  /** A Go duration; the wiring's own default when it is not set. */
  readonly timeout?: string;
  /** Whether pods are placed without Berth while it is away; the wiring's own default when it is not set. */
  readonly ignorable?: boolean;
  /** Of the second scheduler: what pods write into `spec.schedulerName`. */
  readonly schedulerName: string;
  /** Of the second scheduler: the Lease that elects one of its replicas, as `namespace/name`. */
  readonly lease: string;
  /** kube-scheduler's own credential; the platform's when it is not set. */
  readonly kubeconfig?: string;
}

/** A wish that would not work, or not be safe: one message for people, with what to do. */
export class ConfigurationRefused extends Error {
  override readonly name = "ConfigurationRefused";
}
