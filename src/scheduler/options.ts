import type { Source } from "../cluster/kubeconfig.ts";
import type { Log } from "../policy/log.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Others } from "./choose.ts";
import type { Loaded } from "./policies.ts";

/** Extenders of an old Policy file: asked after the plugins, and before this scheduler binds by itself. */
export interface Extended extends Others {
  /** `none`: nobody binds this pod but the scheduler itself. */
  bind(pod: JsonObject, node: string): Promise<"none" | "bound" | { readonly error: string }>;
}

/** A function that gives one profile, followed while the scheduler runs. */
export interface FunctionSource {
  readonly url: string;
  /** Read for every request. */
  readonly token: () => string | undefined;
  /** The authorities that its certificate is verified with, PEM; absent: those of the system. */
  readonly caPem?: string;
  readonly profile: string;
  /** Between pulls, in milliseconds. */
  readonly every: number;
  /** A directory for the last good policy. */
  readonly keptIn?: string;
  /** The same for all that place pods in one cluster. */
  readonly versionKey: string;
}

/** What both modes of the scheduler are started with. */
export interface SchedulerOptions {
  /** What pods name in `spec.schedulerName`; the name of the Lease and the component of events too. */
  readonly schedulerName: string;
  readonly source: Source;
  /** Absent: the default plugins. */
  readonly loaded?: Loaded;
  /** What pods may insist on without anybody judging it. */
  readonly ignored: ReadonlySet<string>;
  /** Decides between equally good nodes: from 0 up to 1. */
  random(): number;
  readonly log: Log;
}

/** What the informer mode is started with beside that. */
export interface InformerModeOptions extends SchedulerOptions {
  readonly extended?: Extended;
  /** Where the policy comes from, in place of `loaded`. */
  readonly function?: FunctionSource;
  /** `percentageOfNodesToScore`; 0 lets kube-scheduler's formula choose. */
  readonly percentage: number;
  /** Where probes and metrics are served. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Where the Lease lives; absent: the namespace of this pod or of the kubeconfig's context. */
  readonly leaseNamespace?: string;
}

/** A decision that was not carried out. */
export interface DryDecision {
  /** `<namespace>/<name>`. */
  readonly pod: string;
  readonly node?: string;
  /** The sum of weighted scores, and how many nodes fitted. */
  readonly score?: number;
  readonly fitting?: number;
  /** Why there is no node. */
  readonly reason?: string;
}

/** A scheduler at work. */
export interface RunningScheduler {
  /** Of probes and metrics, where they are served. */
  readonly url?: string;
  /** Begins nothing new, waits for the binds under way, gives the Lease back, sends the last events. */
  stop(): Promise<void>;
}
