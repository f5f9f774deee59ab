import * as z from "zod";

/**
 * The fields of `kubescheduler.config.k8s.io/v1` (k8s.io/kube-scheduler v0.37.2 config/v1/types.go, k8s.io/component-base
 * v0.37.2 config/v1alpha1/types.go). kube-scheduler refuses every other one. Durations and what plugins take are
 * looked at elsewhere.
 */
const text = z.string();
const duration = z.unknown();
const whole = z.int();
const flag = z.boolean();

const plugin = z.strictObject({ name: text, weight: whole.optional() });
const pluginSet = z.strictObject({ enabled: z.array(plugin).optional(), disabled: z.array(plugin).optional() });

const EXTENSION_POINTS = [
  "preEnqueue",
  "queueSort",
  "preFilter",
  "filter",
  "postFilter",
  "preScore",
  "score",
  "reserve",
  "permit",
  "preBind",
  "bind",
  "postBind",
  "multiPoint",
  "placementGenerate",
  "placementScore",
  "podGroupPostFilter",
] as const;

const plugins = z.strictObject(
  Object.fromEntries(EXTENSION_POINTS.map((point) => [point, pluginSet.optional()])) as Record<
    (typeof EXTENSION_POINTS)[number],
    z.ZodOptional<typeof pluginSet>
  >,
);

const profile = z.strictObject({
  schedulerName: text.optional(),
  percentageOfNodesToScore: whole.min(0).max(100).optional(),
  plugins: plugins.optional(),
  pluginConfig: z.array(z.strictObject({ name: text, args: z.unknown().optional() })).optional(),
});

const tlsConfig = z.strictObject({
  insecure: flag.optional(),
  serverName: text.optional(),
  certFile: text.optional(),
  keyFile: text.optional(),
  caFile: text.optional(),
  certData: text.optional(),
  keyData: text.optional(),
  caData: text.optional(),
});

const extender = z.strictObject({
  urlPrefix: text,
  filterVerb: text.optional(),
  preemptVerb: text.optional(),
  prioritizeVerb: text.optional(),
  weight: whole.optional(),
  bindVerb: text.optional(),
  enableHTTPS: flag.optional(),
  tlsConfig: tlsConfig.optional(),
  httpTimeout: duration.optional(),
  nodeCacheCapable: flag.optional(),
  managedResources: z.array(z.strictObject({ name: text, ignoredByScheduler: flag.optional() })).optional(),
  ignorable: flag.optional(),
});

/** A scheduler configuration. */
export const configurationSchema = z.strictObject({
  apiVersion: text.optional(),
  kind: text.optional(),
  parallelism: whole.min(1).optional(),
  leaderElection: z
    .strictObject({
      leaderElect: flag.optional(),
      leaseDuration: duration.optional(),
      renewDeadline: duration.optional(),
      retryPeriod: duration.optional(),
      resourceLock: text.optional(),
      resourceName: text.optional(),
      resourceNamespace: text.optional(),
    })
    .optional(),
  clientConnection: z
    .strictObject({
      kubeconfig: text.optional(),
      acceptContentTypes: text.optional(),
      contentType: text.optional(),
      qps: z.number().optional(),
      burst: whole.optional(),
    })
    .optional(),
  enableProfiling: flag.optional(),
  enableContentionProfiling: flag.optional(),
  percentageOfNodesToScore: whole.min(0).max(100).optional(),
  podInitialBackoffSeconds: whole.min(1).optional(),
  podMaxBackoffSeconds: whole.min(1).optional(),
  profiles: z.array(profile).optional(),
  extenders: z.array(extender).optional(),
  delayCacheUntilActive: flag.optional(),
});

/** What an old Policy file may hold beside its extenders; nothing of it exists any more. */
export const policySchema = z.looseObject({ extenders: z.array(extender).optional() });
