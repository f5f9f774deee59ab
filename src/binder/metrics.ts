import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { InformerState } from "../cluster/informer.ts";
import { type RelayMetrics, relayMetricsIn } from "./far-metrics.ts";
import { observePolicies, type PolicyObserved } from "./policy-metrics.ts";
import { type ShadowMetrics, shadowMetricsIn } from "./shadow-metrics.ts";

/** What is told when somebody asks for metrics, read at that moment. */
export interface Observed extends PolicyObserved {
  claims(): number;
  informers(): readonly InformerState[];
  eventFailures(): Readonly<Record<string, number>>;
  leader(): boolean;
  ready(): boolean;
}

/** The binder's own counts, in the text format of Prometheus. */
export interface Metrics {
  /** A request of kube-scheduler, with what came of it in one word. */
  request(verb: string, outcome: string, seconds: number): void;
  /** A refusal: of a bind by its cause, of a node in filter by the plugin. */
  refusal(verb: string, reason: string, count?: number): void;
  /** Claims taken away: `revoked` because their pod was not bound in time, `ended` because it is gone. */
  claimsTaken(how: "revoked" | "ended", count: number): void;
  /** What plugins cost that only a function has. */
  readonly relay: RelayMetrics;
  /** What policies in the shadow of others would have done. */
  readonly shadow: ShadowMetrics;
  text(): Promise<string>;
  readonly contentType: string;
}

/** kube-scheduler waits 5 seconds. */
const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2.5, 5];

export function createMetrics(observed: Observed): Metrics {
  return metricsIn(new Registry(), observed);
}

/** What a metric is, for people. */
export interface MetricDescription {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Every metric there is, in the order in which they are told. */
export function describeMetrics(): readonly MetricDescription[] {
  const registry = new Registry();
  const nothing = { claims: () => 0, informers: () => [], eventFailures: () => ({}) };
  metricsIn(registry, { ...nothing, policies: () => [], leader: () => false, ready: () => false });
  return registry.getMetricsAsArray().map((metric) => {
    // The library keeps the names of the labels and has no type for them.
    const { labelNames = [] } = metric as { readonly labelNames?: readonly string[] };
    return { name: metric.name, type: String(metric.type), help: metric.help, labels: labelNames };
  });
}

function metricsIn(registry: Registry, observed: Observed): Metrics {
  const registers = [registry];
  const requests = new Counter({
    name: "berth_requests_total",
    help: "Requests of kube-scheduler by verb and outcome.",
    labelNames: ["verb", "outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "berth_request_seconds",
    help: "How long a request took to be decided, by verb and outcome.",
    labelNames: ["verb", "outcome"],
    buckets: SECONDS,
    registers,
  });
  const refusals = new Counter({
    name: "berth_refusals_total",
    help: "Refusals by verb and reason: of a bind its cause, of a node in filter the plugin.",
    labelNames: ["verb", "reason"],
    registers,
  });
  const taken = new Counter({
    name: "berth_claims_taken_total",
    help: "Claims taken away: revoked (the pod was not bound in time) or ended (the pod is gone).",
    labelNames: ["how"],
    registers,
  });
  observe(observed, registers);
  return {
    relay: relayMetricsIn(registry),
    shadow: shadowMetricsIn(registry),
    request: (verb, outcome, took) => {
      requests.inc({ verb, outcome });
      seconds.observe({ verb, outcome }, took);
    },
    refusal: (verb, reason, count = 1) => refusals.inc({ verb, reason }, count),
    claimsTaken: (how, count) => taken.inc({ how }, count),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Gauges that are read when somebody asks. */
function observe(observed: Observed, registers: Registry[]): void {
  const value = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  value("berth_claims_held", "Claims in all ledgers, those of running pods included.", observed.claims);
  value("berth_leader", "1 while this process holds the Lease.", () => Number(observed.leader()));
  value("berth_ready", "1 once the whole cluster has been read.", () => Number(observed.ready()));
  new Gauge({
    name: "berth_event_failures",
    help: "Events that could not be written, by reason, since the start.",
    labelNames: ["reason"],
    registers,
    collect() {
      for (const [reason, count] of Object.entries(observed.eventFailures())) this.set({ reason }, count);
    },
  });
  observeInformers(observed, registers);
  observePolicies(observed, registers);
}

function observeInformers({ informers }: Observed, registers: Registry[]): void {
  const each = (name: string, help: string, read: (state: InformerState) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["resource"],
      registers,
      collect() {
        for (const state of informers()) this.set({ resource: state.resource }, read(state));
      },
    });
  each("berth_informer_age_seconds", "Since the API server was last heard of, by resource.", (s) => s.heardAgo / 1000);
  each("berth_informer_objects", "Objects known, by resource.", (state) => state.objects);
  each("berth_informer_connected", "1 while a watch is open, by resource.", (state) => Number(state.connected));
  each("berth_informer_bad_objects", "Objects that could not be read, by resource.", (state) => state.badObjects);
  new Gauge({
    name: "berth_informer_restarts",
    help: "How often a list or a watch was over, by resource and reason, since the start.",
    labelNames: ["resource", "reason"],
    registers,
    collect() {
      for (const { resource, restarts } of informers())
        for (const [reason, count] of Object.entries(restarts)) this.set({ resource, reason }, count);
    },
  });
}
