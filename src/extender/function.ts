import type { PolicySet } from "../policy/profile.ts";
import { type App, createApp, type Host } from "./app.ts";
import { type CallerOptions, prepareCallers } from "./callers.ts";
import { localDeciders } from "./local.ts";

/** What a runtime brings to the function: all that the app needs but the policy. */
export type Runtime = Omit<Host, "deciders" | "identify"> & CallerOptions;

/** The function: the extender's app on a policy of its own, deciding from what each request carries. */
export async function createFunction(policies: PolicySet, runtime: Runtime): Promise<App> {
  const identify = await prepareCallers(policies.callers, runtime);
  return createApp({ ...runtime, identify, deciders: localDeciders(policies, runtime.now) });
}
