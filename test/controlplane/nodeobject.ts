import type { NodeClass } from "./instances.ts";
import type { NodeOptions } from "./nodes.ts";
import type { Condition, Node, NodeImage, Quantities } from "./objects.ts";
import { nodeOwners } from "./ownership.ts";
import type { Random } from "./random.ts";

/** What a node object is made of. */
export interface NodeParts {
  readonly of: NodeClass;
  readonly random: Random;
  readonly images: readonly NodeImage[];
  readonly options: NodeOptions;
}

const created = "2026-03-02T08:14:07Z";
const ready = "2026-03-02T08:14:39Z";
const heartbeat = "2026-03-09T15:41:22Z";

/** Puts a node together. Pure; times are constant. */
export function nodeObject(parts: NodeParts): Node {
  const { of, random, options, images } = parts;
  const index = options.index ?? 0;
  const address = `10.${16 + (random.below(8) << 2)}.${(index >> 8) & 255}.${index & 255}`;
  const name = options.name ?? `ip-${address.replaceAll(".", "-")}.eu-central-1.compute.internal`;
  const instance = `i-0${random.hex(16)}`;
  const labels = { ...labelsOf(of, name), ...options.labels };
  const annotations = { ...annotationsOf(address, instance, random), ...options.annotations };
  const spec = {
    providerID: `aws:///${of.zone}/${instance}`,
    ...(options.taints === undefined ? {} : { taints: options.taints }),
    ...(options.unschedulable === true ? { unschedulable: true } : {}),
  };
  const status = {
    capacity: { ...capacityOf(of), ...options.capacity },
    allocatable: { ...allocatableOf(of), ...options.allocatable },
    conditions: conditions(),
    addresses: addresses(address),
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: nodeInfo(of, random),
    images: [...images].sort((a, b) => b.sizeBytes - a.sizeBytes),
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid: random.uuid(),
      resourceVersion: String(48_000_000 + random.below(1_000_000)),
      creationTimestamp: created,
      labels,
      annotations,
      managedFields: nodeOwners({ labels, annotations, status }),
    },
    spec,
    status,
  };
}

function labelsOf(of: NodeClass, name: string): Record<string, string> {
  const [family = "", size = ""] = of.instanceType.split(".");
  return {
    "beta.kubernetes.io/arch": of.arch,
    "beta.kubernetes.io/instance-type": of.instanceType,
    "beta.kubernetes.io/os": "linux",
    "k8s.io/cloud-provider-aws": "6f8c2a7c1d1f4c4f9a7de7a0c8b1c6a4",
    "karpenter.k8s.aws/ec2nodeclass": "default",
    "karpenter.k8s.aws/instance-category": family.slice(0, 1),
    "karpenter.k8s.aws/instance-cpu": String(of.cores),
    "karpenter.k8s.aws/instance-family": family,
    "karpenter.k8s.aws/instance-generation": family.replaceAll(/[^0-9]/g, ""),
    "karpenter.k8s.aws/instance-memory": String(of.memoryGiB * 1024),
    "karpenter.k8s.aws/instance-size": size,
    "karpenter.sh/capacity-type": of.capacityType,
    "karpenter.sh/initialized": "true",
    "karpenter.sh/nodepool": "general",
    "karpenter.sh/registered": "true",
    "kubernetes.io/arch": of.arch,
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "node.kubernetes.io/instance-type": of.instanceType,
    "topology.ebs.csi.aws.com/zone": of.zone,
    "topology.kubernetes.io/region": "eu-central-1",
    "topology.kubernetes.io/zone": of.zone,
  };
}

function annotationsOf(address: string, instance: string, random: Random): Record<string, string> {
  return {
    "alpha.kubernetes.io/provided-node-ip": address,
    "csi.volume.kubernetes.io/nodeid": JSON.stringify({ "ebs.csi.aws.com": instance, "efs.csi.aws.com": instance }),
    "karpenter.k8s.aws/ec2nodeclass-hash": String(10 ** 18 + random.below(10 ** 9)),
    "karpenter.k8s.aws/ec2nodeclass-hash-version": "v4",
    "karpenter.sh/nodepool-hash": "4012513481623584108",
    "karpenter.sh/nodepool-hash-version": "v3",
    "node.alpha.kubernetes.io/ttl": "0",
    "volumes.kubernetes.io/controller-managed-attach-detach": "true",
  };
}

function capacityOf(of: NodeClass): Quantities {
  return {
    cpu: String(of.cores),
    "ephemeral-storage": "104779756Ki",
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    // The firmware keeps a little over 3 % for itself.
    memory: `${Math.floor(of.memoryGiB * 1024 * 1024 * 0.967)}Ki`,
    pods: String(of.maxPods),
  };
}

function allocatableOf(of: NodeClass): Quantities {
  // As EKS's bootstrap reserves: 6 % of the first core, 1 % of the second, 0.5 % of two more, 0.25 % of the rest;
  // 11 Mi a pod and 255 Mi, with 100 Mi of eviction threshold.
  const reserved = 60 + 10 + Math.min(of.cores - 2, 2) * 5 + Math.max(of.cores - 4, 0) * 2.5;
  const memory = Math.floor(of.memoryGiB * 1024 * 1024 * 0.967) - (11 * of.maxPods + 355) * 1024;
  return {
    ...capacityOf(of),
    cpu: `${Math.floor(of.cores * 1000 - reserved)}m`,
    "ephemeral-storage": "95491281146",
    memory: `${memory}Ki`,
  };
}

function conditions(): Condition[] {
  const healthy = (type: string, reason: string, message: string): Condition => ({
    type,
    status: type === "Ready" ? "True" : "False",
    lastHeartbeatTime: heartbeat,
    lastTransitionTime: type === "Ready" ? ready : created,
    reason,
    message,
  });
  return [
    healthy("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    healthy("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    healthy("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    healthy("Ready", "KubeletReady", "kubelet is posting ready status"),
  ];
}

function addresses(address: string): { readonly type: string; readonly address: string }[] {
  const dns = `ip-${address.replaceAll(".", "-")}.eu-central-1.compute.internal`;
  return [
    { type: "InternalIP", address },
    { type: "InternalDNS", address: dns },
    { type: "Hostname", address: dns },
  ];
}

function nodeInfo(of: NodeClass, random: Random): Record<string, string> {
  const machine = random.hex(32);
  return {
    machineID: `ec2${machine.slice(3)}`,
    systemUUID: `ec2${random.uuid().slice(3)}`,
    bootID: random.uuid(),
    kernelVersion: "6.12.40-63.114.amzn2023.x86_64".replace("x86_64", of.arch === "arm64" ? "aarch64" : "x86_64"),
    osImage: "Amazon Linux 2023.8.20260210",
    containerRuntimeVersion: "containerd://2.1.5",
    kubeletVersion: "v1.34.4-eks-113cf36",
    kubeProxyVersion: "",
    operatingSystem: "linux",
    architecture: of.arch,
  };
}
