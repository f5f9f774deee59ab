import type { NodeImage } from "./objects.ts";
import { createRandom } from "./random.ts";

const account = "123456789012.dkr.ecr.eu-central-1.amazonaws.com";
const eks = "602401143452.dkr.ecr.eu-central-1.amazonaws.com/eks";

/** Repository and tag of what a cluster's nodes carry, system images first. */
const repositories: readonly (readonly [string, string])[] = [
  [`${eks}/kube-proxy`, "v1.34.4-minimal-eksbuild.2"],
  [`${eks}/aws-ebs-csi-driver`, "v1.45.0"],
  [`${eks}/pause`, "3.10"],
  ["602401143452.dkr.ecr.eu-central-1.amazonaws.com/amazon-k8s-cni", "v1.19.6-eksbuild.1"],
  ["quay.io/prometheus/node-exporter", "v1.9.1"],
  ["registry.k8s.io/kube-state-metrics/kube-state-metrics", "v2.15.0"],
  ["registry.k8s.io/ingress-nginx/controller", "v1.12.2"],
  ["docker.io/grafana/promtail", "3.5.1"],
  ["docker.io/grafana/grafana", "12.0.1"],
  ["docker.io/library/redis", "7.4.3-alpine"],
  ["docker.io/library/postgres", "17.5-bookworm"],
  ["docker.io/istio/proxyv2", "1.26.1"],
  ["ghcr.io/open-telemetry/opentelemetry-collector-releases/opentelemetry-collector-contrib", "0.127.0"],
  ["docker.io/library/python", "3.13.4-slim-bookworm"],
  ["ghcr.io/external-secrets/external-secrets", "v0.17.0"],
  ...Array.from({ length: 75 }, (_, index) => [`${account}/${service(index)}`, `2026.${index % 12}.${index}`] as const),
];

function service(index: number): string {
  const teams = ["checkout", "search", "catalog", "billing", "identity", "media"];
  const parts = ["api", "worker", "gateway", "consumer", "migrations"];
  return `${teams[index % teams.length]}/${parts[index % parts.length]}-${index}`;
}

/** Every image that a node may carry. The same image has the same digest and size everywhere. */
export const imageCatalogue: readonly NodeImage[] = repositories.map(([repository, tag], index) => {
  const random = createRandom(1_000 + index);
  return {
    names: [`${repository}@sha256:${random.hex(64)}`, `${repository}:${tag}`],
    sizeBytes: 5_000_000 + random.below(600_000_000),
  };
});
