import { formatDuration, parseDuration } from "../kube-scheduler/duration.ts";
import { BLIND_SCORES_SINCE, type Minor, POP_FROM_BACKOFF_SINCE, parseMinor } from "../kube-scheduler/versions.ts";
import { type ConfigurationWish, PLATFORMS } from "./options.ts";
import { refuse } from "./refuse.ts";

/** A line of the file: a key, its value, and why it is there. */
export interface Line {
  readonly key: string;
  readonly value: unknown;
  readonly why?: string;
}

/** What a configuration has to say, before it is a text. */
export interface Plan {
  readonly extender: readonly Line[];
  /** Fields of the file beside profiles and extenders. */
  readonly fields: readonly Line[];
  /** Of the one profile of a second scheduler. */
  readonly schedulerName?: Line;
  /** Why no profile may preempt; undefined where all may. */
  readonly preemptionOff?: string;
  /** Every profile has to look at all nodes. */
  readonly allNodes?: string;
  /** Flags that kube-scheduler has to be started with beside --config. */
  readonly flags: readonly string[];
}

/** Which of Berth's programs stands behind the URL. */
type Behind = "function" | "binder";

/**
 * Says what the configuration for a wish is.
 *
 * @throws {ConfigurationRefused} when it would not work or not be safe
 */
export function planFor(wish: ConfigurationWish): Plan {
  refuse(wish);
  const minor = parseMinor(wish.kubernetesVersion) ?? BLIND_SCORES_SINCE;
  const behind: Behind = wish.binderUrl === undefined ? "function" : "binder";
  const rejects = wish.wiring !== "prioritize-only";
  const gate = rejects && minor >= POP_FROM_BACKOFF_SINCE ? ["--feature-gates=SchedulerPopFromBackoffQ=false"] : [];
  return {
    extender: extenderLines(wish, behind, minor),
    fields: [...clientLines(wish), ...electionLines(wish), ...(rejects ? [BACKOFF] : [])],
    ...(wish.wiring === "second-scheduler" && { schedulerName: nameLine(wish) }),
    ...(rejects && behind === "function" && { preemptionOff: NO_PREEMPT }),
    ...(rejects && { allNodes: ALL_NODES }),
    flags: gate,
  };
}

const NO_PREEMPT =
  "The function filters and cannot answer preempt: with preemption on, a pod that it refuses everywhere would evict one " +
  "pod after the other, in vain.";

const ALL_NODES =
  "The profile can reject nodes: of a sample (the default above 100 nodes) it might reject all, and the pod would wait " +
  "although another node would take it.";

const BACKOFF: Line = {
  key: "podMaxBackoffSeconds",
  value: 60,
  why:
    "Nearly every event of the cluster has each refused pod asked about again; a longer backoff than ten seconds keeps " +
    "that in bounds, together with the flag --feature-gates=SchedulerPopFromBackoffQ=false (Kubernetes 1.33 and newer).",
};

function extenderLines(wish: ConfigurationWish, behind: Behind, minor: Minor): Line[] {
  return [
    urlLine(wish),
    ...(behind === "binder" ? BINDER_VERBS : functionVerbs(wish, minor)),
    {
      key: "weight",
      value: wish.weight,
      why: `A score of 10 adds 10 × ${wish.weight} × 10 = ${wish.weight * 100} points to kube-scheduler's own sum of several hundred.`,
    },
    ...tlsLines(wish),
    timeoutLine(wish, behind),
    ...resourceLines(wish),
    ignorableLine(wish, behind),
  ];
}

function urlLine({ binderUrl, functionUrl, profile }: ConfigurationWish): Line {
  const url = (binderUrl ?? functionUrl ?? "").replace(/\/+$/, "");
  return { key: "urlPrefix", value: `${url}/${profile}`, why: "The last part is the profile of berth.yaml." };
}

const BINDER_VERBS: readonly Line[] = [
  {
    key: "filterVerb",
    value: "filter",
    why: "One entry with all verbs: what filters a pod also answers preempt for it.",
  },
  { key: "prioritizeVerb", value: "prioritize" },
  { key: "preemptVerb", value: "preempt" },
  { key: "bindVerb", value: "bind", why: "Only one extender of a kube-scheduler may bind." },
  {
    key: "nodeCacheCapable",
    value: true,
    why: "Names only: the binder knows the nodes, and kube-scheduler's own scores stay right.",
  },
];

function functionVerbs({ wiring }: ConfigurationWish, minor: Minor): Line[] {
  const names: Line = {
    key: "nodeCacheCapable",
    value: false,
    why: "Whole nodes: the function knows of a node what the request carries, and nothing else.",
  };
  if (wiring === "prioritize-only") {
    const why = "Prioritize only: kube-scheduler's own scores stay right, and nothing is evicted in vain.";
    return [{ key: "prioritizeVerb", value: "prioritize", why }, names];
  }
  const blind =
    minor < BLIND_SCORES_SINCE
      ? "Pods land on no node that the policy refuses."
      : "Pods land on no node that the policy refuses. The price: after a filter with whole nodes kube-scheduler scores " +
        "every node as idle (https://github.com/kubernetes/kubernetes/issues/141781).";
  return [{ key: "filterVerb", value: "filter", why: blind }, { key: "prioritizeVerb", value: "prioritize" }, names];
}

function tlsLines({ caFile, caData, clientCert, clientKey, serverName }: ConfigurationWish): Line[] {
  const hasCa = caFile !== undefined || caData !== undefined;
  const config = {
    ...(serverName !== undefined && { serverName }),
    ...(caFile !== undefined && { caFile }),
    ...(caData !== undefined && { caData }),
    ...(clientCert !== undefined && { certFile: clientCert }),
    ...(clientKey !== undefined && { keyFile: clientKey }),
  };
  const enable = {
    key: "enableHTTPS",
    value: true,
    why: "Never without a CA below: that would turn certificate checks off.",
  };
  const roots = "Without enableHTTPS and a CA the machine's own roots verify the server.";
  if (hasCa) return [enable, { key: "tlsConfig", value: config }];
  return Object.keys(config).length === 0 ? [] : [{ key: "tlsConfig", value: config, why: roots }];
}

function timeoutLine({ timeout }: ConfigurationWish, behind: Behind): Line {
  const ms = timeout === undefined ? (behind === "binder" ? 5000 : 1000) : (parseDuration(timeout) ?? 0);
  const why =
    behind === "binder"
      ? "The binder answers bind after four seconds at the latest. A binder that hangs costs every pod this much."
      : "What a function that hangs costs every pod for each verb; 5 s when not set.";
  return { key: "httpTimeout", value: formatDuration(ms), why };
}

function resourceLines({ managedResources }: ConfigurationWish): Line[] {
  if (managedResources.length === 0) return [];
  const value = managedResources.map(({ name, ignored }) => ({ name, ignoredByScheduler: ignored }));
  const why =
    "Only pods that ask for one of these concern the extender. ignoredByScheduler: true for what no node advertises, or " +
    "kube-scheduler refuses the pods itself; false for what a device plugin advertises.";
  return [{ key: "managedResources", value, why }];
}

function ignorableLine({ ignorable, managedResources }: ConfigurationWish, behind: Behind): Line {
  if (behind === "binder") {
    return {
      key: "ignorable",
      value: false,
      why: "true would have kube-scheduler bind pods itself, without their devices.",
    };
  }
  // Pods without the resource go on by themselves; if every pod concerns the function, the cluster must outlive it.
  const value = ignorable ?? managedResources.length === 0;
  const why = value
    ? "While the function is away, pods are scheduled without it."
    : "While the function is away, pods that concern it wait: the policy must hold.";
  return { key: "ignorable", value, why };
}

function clientLines({ wiring, kubeconfig, platform }: ConfigurationWish): Line[] {
  const own = wiring === "second-scheduler" ? undefined : PLATFORMS[platform].kubeconfig;
  const path = kubeconfig ?? own;
  if (path === undefined) return [];
  const why = "With --config the flag --kubeconfig does nothing; this is kube-scheduler's own credential.";
  return [{ key: "clientConnection", value: { kubeconfig: path }, why }];
}

function electionLines({ wiring, lease }: ConfigurationWish): Line[] {
  if (wiring !== "second-scheduler") {
    return [{ key: "leaderElection", value: { leaderElect: true }, why: "One of several replicas schedules." }];
  }
  const [resourceNamespace, resourceName] = lease.split("/");
  const why = "A Lease of its own: with kube-scheduler's it would wait for ever.";
  return [{ key: "leaderElection", value: { leaderElect: true, resourceNamespace, resourceName }, why }];
}

function nameLine({ schedulerName }: ConfigurationWish): Line {
  return { key: "schedulerName", value: schedulerName, why: "Pods choose this scheduler by spec.schedulerName." };
}
