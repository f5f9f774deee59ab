import { type Context, Hono } from "hono";
import type { FetchApp, ListenerEnv } from "../adapters/listener.ts";
import type { Identify } from "../extender/callers.ts";
import { RELEASE } from "../protocol/release.ts";
import { GPUSHARE_PROFILE } from "./gpushare.ts";
import { inspect } from "./inspect.ts";
import type { Metrics } from "./metrics.ts";
import type { Shadow } from "./shadow.ts";
import type { State } from "./state.ts";

/** How the binder is doing. */
export interface Condition {
  /** What is wrong, a sentence each; with none, all is well. */
  readonly problems: readonly string[];
  /** Further facts for people. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** What stands behind the paths. */
export interface ServerOptions {
  /** The verbs of all profiles. */
  readonly extender: FetchApp;
  readonly identify: Identify;
  readonly state: State;
  readonly metrics: Pick<Metrics, "text" | "contentType" | "request">;
  /** Where another policy is decided in the shadow. */
  readonly shadow?: Pick<Shadow, "differences"> | undefined;
  /** Whether kube-scheduler can be answered. */
  ready(): Condition;
  /** Whether the program makes progress; if not, a restart is the cure. */
  alive(): Condition;
}

/** The binder's paths. Probes and metrics are for anybody: they name no pod and no node. */
export function createServer(options: ServerOptions): FetchApp {
  const app = new Hono<{ Bindings: ListenerEnv }>();
  const condition = (read: () => Condition) => (c: Context) => {
    const { problems, facts } = read();
    const well = problems.length === 0;
    return c.json({ status: well ? "ok" : "not ready", problems, release: RELEASE, ...facts }, well ? 200 : 503);
  };
  app.get("/healthz", condition(options.alive));
  app.get("/readyz", condition(options.ready));
  app.get("/version", (c) => c.text(RELEASE));
  app.get("/metrics", async (c) => {
    return c.body(await options.metrics.text(), 200, { "Content-Type": options.metrics.contentType });
  });
  for (const path of ["/inspect", `/${GPUSHARE_PROFILE}/inspect`]) {
    app.get(path, (c) => shown(c, options, () => inspect(options.state)));
    app.get(`${path}/:node`, (c) => shown(c, options, () => inspect(options.state, c.req.param("node"))));
  }
  app.get("/shadow", (c) => {
    const { shadow } = options;
    return shown(c, options, () => (shadow ? { differences: shadow.differences() } : { error: NO_SHADOW }));
  });
  app.all("*", async (c) => {
    const response = await options.extender.fetch(c.req.raw, c.env);
    if (response.status >= 400) options.metrics.request("any", `http_${response.status}`, 0);
    return response;
  });
  return app;
}

const NO_SHADOW = "no policy is decided in the shadow here: set BERTH_SHADOW_PROFILE or BERTH_SHADOW_URL";

/** Names pods and nodes, so it is for callers only. */
async function shown(
  c: Context<{ Bindings: ListenerEnv }>,
  options: ServerOptions,
  read: () => object,
): Promise<Response> {
  const authorization = c.req.header("authorization");
  const caller = await options.identify({ peer: c.env.peer, ...(authorization !== undefined && { authorization }) });
  if (!caller) return c.json({ error: "a credential is missing or not accepted" }, 401);
  return c.json(read());
}
