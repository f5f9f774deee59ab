/** What every configuration that a test asks for has in common. */
export const BASE = {
  kubernetesVersion: "1.37",
  platform: "kubeadm",
  profile: "default",
  managedResources: [],
  weight: 5,
  schedulerName: "berth",
  lease: "berth-system/berth-scheduler",
} as const;

/** A function to ask, a client certificate, and a binder that takes it. */
export const FUNCTION = { functionUrl: "https://berth.example.com" } as const;
export const CLIENT = { caFile: "/b/ca.crt", clientCert: "/b/client.crt", clientKey: "/b/client.key" } as const;
export const BINDER = {
  binderUrl: "https://10.96.0.20",
  serverName: "berth-binder.berth-system.svc",
  ...CLIENT,
} as const;
