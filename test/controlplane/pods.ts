import type { Json, JsonObject } from "../../src/protocol/json.ts";
import type { Pod, Quantities } from "./objects.ts";

/** What a pod should be like. */
export interface PodOptions {
  readonly name: string;
  /** Default `default`. */
  readonly namespace?: string;
  /** Only for pods that never reach an API server, which gives its own. */
  readonly uid?: string;
  /** Requested by the one container, such as `500m`. */
  readonly cpu?: string;
  /** Requested by the one container, such as `1Gi`. */
  readonly memory?: string;
  /** Further requests of the container, such as extended resources (which then need the same limits). */
  readonly requests?: Quantities;
  readonly limits?: Quantities;
  readonly image?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Only for pods that never reach an API server, which wants the name of a PriorityClass. */
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly schedulerName?: string;
  readonly nodeName?: string;
  /** Further fields of the spec: `tolerations`, `nodeSelector`, `affinity`, `overhead`, … */
  readonly spec?: JsonObject;
}

/** A pod manifest with one container. Nothing that the API server would default is in it. */
export function buildPod(options: PodOptions): Pod {
  const { cpu, memory, limits } = options;
  const requests = { ...defined({ cpu, memory }), ...options.requests };
  const resources = { requests, ...(limits === undefined ? {} : { limits }) };
  const container = { name: "app", image: options.image ?? "registry.k8s.io/pause:3.10", resources };
  return withMetadata(options, { containers: [container], terminationGracePeriodSeconds: 0 });
}

/**
 * A pod as a platform team's chart would make it: init container, native sidecar, two containers with environment, probes
 * and mounts, volumes, tolerations, affinity, spread. Its requests stand in the first container as given.
 */
export function buildFullPod(options: PodOptions): Pod {
  const pod = buildPod({ ...options, image: "123456789012.dkr.ecr.eu-central-1.amazonaws.com/checkout/api:2026.3.1" });
  const labels = { app: options.name, "app.kubernetes.io/part-of": "checkout", "pod-template-hash": "6d9c7b7c5f" };
  const metadata = { ...pod.metadata, labels: { ...labels, ...options.labels } };
  const [app] = pod.spec.containers;
  const containers = [{ ...app, ...appParts }, metricsContainer];
  return {
    ...pod,
    metadata,
    spec: { ...pod.spec, ...placement(options.name), ...options.spec, initContainers, containers, volumes },
  } as Pod;
}

function withMetadata(options: PodOptions, base: JsonObject): Pod {
  const { name, namespace = "default", uid, labels, annotations } = options;
  const { priority, priorityClassName, schedulerName, nodeName } = options;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, ...defined({ uid, labels, annotations }) },
    spec: { ...base, ...defined({ priority, priorityClassName, schedulerName, nodeName }), ...options.spec },
  } as unknown as Pod;
}

function defined(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const small = { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "128Mi" } };

const initContainers = [
  {
    name: "migrate",
    image: "123456789012.dkr.ecr.eu-central-1.amazonaws.com/checkout/migrations:2026.3.1",
    command: ["/migrate", "--to=latest"],
    env: [{ name: "DATABASE_URL", valueFrom: { secretKeyRef: { name: "checkout-database", key: "url" } } }],
    resources: { requests: { cpu: "250m", memory: "256Mi" } },
  },
  {
    // A restart policy of Always makes an init container a native sidecar: it counts for as long as the pod runs.
    name: "mesh-proxy",
    image: "docker.io/istio/proxyv2:1.26.1",
    restartPolicy: "Always",
    args: ["proxy", "sidecar", "--proxyLogLevel=warning"],
    ports: [{ name: "http-envoy-prom", containerPort: 15090, protocol: "TCP" }],
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "2", memory: "1Gi" } },
    startupProbe: { httpGet: { path: "/healthz/ready", port: 15021 }, failureThreshold: 600, periodSeconds: 1 },
  },
];

const appParts = {
  env: [
    { name: "LOG_LEVEL", value: "info" },
    { name: "GREETING", value: 'quotes " and \\ backslashes, <angles> & ümlauts' },
    { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    { name: "CPU_LIMIT", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
  ],
  envFrom: [{ configMapRef: { name: "checkout-settings", optional: true } }],
  ports: [{ name: "http", containerPort: 8080 }],
  readinessProbe: { httpGet: { path: "/readyz", port: "http" }, periodSeconds: 5 },
  livenessProbe: { httpGet: { path: "/livez", port: "http" }, initialDelaySeconds: 10 },
  volumeMounts: [
    { name: "scratch", mountPath: "/tmp" },
    { name: "settings", mountPath: "/etc/checkout", readOnly: true },
  ],
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
};

const metricsContainer = {
  name: "metrics",
  image: "ghcr.io/open-telemetry/opentelemetry-collector-releases/opentelemetry-collector-contrib:0.127.0",
  args: ["--config=/etc/otel/config.yaml"],
  resources: small,
};

const volumes = [
  { name: "scratch", emptyDir: { sizeLimit: "1Gi" } },
  { name: "settings", configMap: { name: "checkout-settings", optional: true } },
];

function placement(app: string): JsonObject {
  const labelSelector = { matchLabels: { app } };
  const inZone = { topologyKey: "topology.kubernetes.io/zone", labelSelector };
  const known = { key: "kubernetes.io/arch", operator: "In", values: ["amd64", "arm64"] };
  return {
    tolerations: [
      { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      { key: "dedicated", operator: "Equal", value: "checkout", effect: "NoSchedule" },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [known] }] },
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 50, podAffinityTerm: inZone }],
      },
    },
    topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway", ...inZone }],
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  };
}
