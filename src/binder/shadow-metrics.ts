import { Counter, type Registry } from "prom-client";

/** What came of a decision in the shadow; `skipped`: more came than a shadow may take time for. */
export type ShadowOutcome = "same" | "differs" | "failed" | "skipped";

/** Counts what policies in the shadow of others would have done. */
export interface ShadowMetrics {
  decided(profile: string, outcome: ShadowOutcome): void;
  differs(profile: string, kind: "verdict" | "order", plugin: string): void;
}

export function shadowMetricsIn(registry: Registry): ShadowMetrics {
  const decisions = new Counter({
    name: "berth_shadow_decisions_total",
    help: "Decisions of a policy in the shadow, by profile and outcome: same, differs, failed, skipped (no time).",
    labelNames: ["profile", "outcome"],
    registers: [registry],
  });
  const differences = new Counter({
    name: "berth_shadow_differences_total",
    help: "Requests that a policy in the shadow would have answered otherwise, by kind (verdict, order) and plugin.",
    labelNames: ["profile", "kind", "plugin"],
    registers: [registry],
  });
  return {
    decided: (profile, outcome) => decisions.inc({ profile, outcome }),
    differs: (profile, kind, plugin) => differences.inc({ profile, kind, plugin }),
  };
}
