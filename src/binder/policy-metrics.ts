import { Gauge, type Registry } from "prom-client";
import type { ProfileState } from "../remote/followed.ts";

/** How one profile is doing. */
export interface PolicyState extends ProfileState {
  /** Where its policy comes from: files beside the binder, a function, or the program itself. */
  readonly source: "files" | "function" | "built-in";
}

/** What is told of the policies in force. */
export interface PolicyObserved {
  policies(): readonly PolicyState[];
}

/** Gauges of the policies in force, read when somebody asks. */
export function observePolicies({ policies }: PolicyObserved, registers: Registry[]): void {
  new Gauge({
    name: "berth_policy_info",
    help: "1 for each policy in force, by profile, version and where it comes from.",
    labelNames: ["profile", "version", "source"],
    registers,
    collect() {
      this.reset();
      for (const { profile, version, source } of policies())
        if (version !== undefined) this.set({ profile, version, source }, 1);
    },
  });
  const each = (name: string, help: string, read: (state: PolicyState) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ["profile"],
      registers,
      collect() {
        this.reset();
        for (const state of policies()) {
          const value = read(state);
          if (value !== undefined && state.source !== "built-in") this.set({ profile: state.profile }, value);
        }
      },
    });
  each(
    "berth_policy_age_seconds",
    "Since the function last said that the policy in force is its policy, by profile; grows while it is away.",
    ({ ageSeconds }) => ageSeconds,
  );
  each(
    "berth_policy_problem",
    "1 while the policy cannot be followed, by profile: the last good one is in force.",
    (s) => Number(s.problem !== undefined),
  );
  each(
    "berth_policy_failures",
    "Attempts to take the policy that failed, by profile, since the start.",
    (s) => s.failures,
  );
}
