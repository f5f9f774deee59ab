import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { InformerState } from "../cluster/informer.ts";
import type { QueueSizes } from "./queue.ts";

/** What is told when somebody asks for metrics, read at that moment. */
export interface Observed {
  queue(): QueueSizes;
  informers(): readonly InformerState[];
  eventFailures(): Readonly<Record<string, number>>;
  leader(): boolean;
  ready(): boolean;
}

/** How long a bind took, and, for one that took effect, the time since the pod was first seen; in seconds. */
export interface BindSeconds {
  readonly bind: number;
  readonly whole?: number;
}

/** The scheduler's own counts, in the text format of Prometheus. */
export interface Metrics {
  /** A search for a node, with what came of it. */
  attempt(outcome: "node" | "unfit" | "fault", seconds: number): void;
  bound(outcome: "bound" | "failed", seconds: BindSeconds): void;
  text(): Promise<string>;
  readonly contentType: string;
}

const SECONDS = [0.0005, 0.001, 0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 120, 600];

export function createMetrics(observed: Observed): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, labelNames: ["outcome"], buckets: SECONDS, registers });
  const attempts = histogram("berth_scheduler_attempt_seconds", "How long the search for a node took, by outcome.");
  const binds = histogram("berth_scheduler_bind_seconds", "How long a bind took, by outcome.");
  const whole = histogram("berth_scheduler_pod_seconds", "From a pod being seen to its being bound.");
  const failures = new Counter({ name: "berth_scheduler_binds_failed_total", help: "Binds that failed.", registers });
  observe(observed, registers);
  return {
    attempt: (outcome, seconds) => attempts.observe({ outcome }, seconds),
    bound(outcome, seconds) {
      binds.observe({ outcome }, seconds.bind);
      if (seconds.whole !== undefined) whole.observe({ outcome }, seconds.whole);
      if (outcome === "failed") failures.inc();
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Gauges that are read when somebody asks; those that the binder has too have its names. */
function observe(observed: Observed, registers: Registry[]): void {
  const labelled = (name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>) =>
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      collect() {
        for (const [key, value] of read()) this.set({ [label]: key }, value);
      },
    });
  const value = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const byResource = (read: (state: InformerState) => number) => () =>
    observed.informers().map((state) => [state.resource, read(state)] as const);
  value("berth_leader", "1 while this process holds the Lease.", () => Number(observed.leader()));
  value("berth_ready", "1 once the whole cluster has been read.", () => Number(observed.ready()));
  labelled("berth_scheduler_pods", "Pods that wait, by what for; taken: being bound.", "state", () =>
    Object.entries(observed.queue()),
  );
  labelled("berth_event_failures", "Events that could not be written, by reason, since the start.", "reason", () =>
    Object.entries(observed.eventFailures()),
  );
  const age = byResource((state) => state.heardAgo / 1000);
  labelled("berth_informer_age_seconds", "Since the API server was last heard of, by resource.", "resource", age);
  const objects = byResource((state) => state.objects);
  labelled("berth_informer_objects", "Objects known, by resource.", "resource", objects);
  const connected = byResource((state) => Number(state.connected));
  labelled("berth_informer_connected", "1 while a watch is open, by resource.", "resource", connected);
  const bad = byResource((state) => state.badObjects);
  labelled("berth_informer_bad_objects", "Objects that could not be read, by resource.", "resource", bad);
}
