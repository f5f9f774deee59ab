import { type Context, Hono } from "hono";
import { ShapeError } from "../protocol/scan.ts";
import type { Skims } from "../protocol/skim.ts";
import { type Admitted, admit, type Turned } from "./admit.ts";
import { type BodyOptions, BrokenBodyError, DEFAULT_BODY_LIMIT, discardBody, type Pour, readBody } from "./body.ts";
import type { Identify, Peer } from "./callers.ts";
import { answerCluster, barred, type ClusterVerbs } from "./cluster-verbs.ts";
import type { Deciders, DecisionVerb } from "./decider.ts";
import { describe, evaluate } from "./facts-asked.ts";
import { createHealth, type Health } from "./health.ts";
import type { Log } from "./log.ts";
import { answerCall } from "./scheduler-verbs.ts";

/** What a runtime brings to the app. */
export interface Host {
  readonly deciders: Deciders;
  readonly identify: Identify;
  /** Who is at the other end of this request, from what the runtime has verified. */
  readonly peer: (request: Request, env: unknown) => Peer;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The largest body in bytes. */
  readonly bodyLimit?: number;
  /** How bodies are read where the runtime has a better way than its default reader. */
  readonly pour?: Pour;
  /** What makes reading nodes cheaper, where the runtime has WebAssembly. The answers are the same without it. */
  readonly skims?: Skims | undefined;
  /** True where nothing between the app and its callers packs answers; Cloudflare does so by itself. */
  readonly packs?: boolean;
  /** bind and preempt, where the cluster is at hand; without it they are not answered. */
  readonly cluster?: ClusterVerbs;
}

/** A host, with what one app keeps between requests. */
interface Serving extends Host {
  readonly health: Health;
}

/** The extender as a Hono app; its handlers log through a log that knows the request. */
export type App = Hono<{ readonly Variables: { log: Log } }>;

/**
 * The extender as a value: give it to any runtime that speaks Fetch. Every answer has the id of its request in the
 * header `Berth-Request`, and every log line of that request the same id in its field `request`.
 */
export function createApp(host: Host): App {
  const health = createHealth(host.now);
  const app: App = new Hono();
  app.use(async (c, next) => {
    const request = crypto.randomUUID();
    c.set("log", (level, message, fields) => host.log(level, message, { request, ...fields }));
    c.header("Berth-Request", request);
    await next();
  });
  app.get("/healthz", (c) => c.json(health.report()));
  app.all("/healthz", (c) => c.json({ error: "healthz is asked with GET" }, 405, { Allow: "GET" }));
  app.all("*", (c) => serve(c, { ...host, log: c.get("log"), health }));
  app.onError((error, c) => {
    if (error instanceof BrokenBodyError) {
      c.get("log")("info", "a client left before its request was read", { cause: error.message });
      return c.json({ error: "the body broke off before its end" }, 400);
    }
    c.get("log")("error", "internal error", { cause: error.message });
    return c.json({ error: "internal error; the log has the cause" }, 500);
  });
  return app;
}

/** admit → read → decide → answer. */
async function serve(c: Context, host: Serving): Promise<Response> {
  const request = c.req.raw;
  const peer = host.peer(request, c.env);
  const known = await admit(request, { ...host, peer });
  const admitted = "status" in known || !host.cluster ? known : (barred(known, peer) ?? known);
  if ("status" in admitted) return turnAway(c, host, admitted);
  c.header("Berth-Policy", admitted.decider.policy);
  if (admitted.verb === "describe") return describe(c, host, admitted.decider);
  try {
    return await answer(c, host, admitted);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    host.log("warn", "request refused", { caller: admitted.caller.name, verb: admitted.verb, error: error.message });
    return refuse(c, 400, error.message);
  }
}

function bodyOptions(c: Context, { bodyLimit = DEFAULT_BODY_LIMIT, pour }: Serving): BodyOptions {
  return { limit: bodyLimit, ...(pour && { pour: (take) => pour(c.req.raw, c.env, take) }) };
}

async function answer(c: Context, host: Serving, admitted: Admitted): Promise<Response> {
  const { verb, decider } = admitted;
  if (verb === "filter" || verb === "prioritize") return answerScheduler(verb, c, { host, admitted });
  const options = bodyOptions(c, host);
  const body = await readBody(c.req.raw, options);
  if (!body) return tooLarge(c, options);
  if (verb === "evaluate") return evaluate(c, host, { decider, body });
  if (host.cluster) return answerInCluster(c, { host, admitted, body }, host.cluster);
  return refuse(c, 404, `${verb} is not answered here: it is the binder's verb`);
}

function tooLarge(c: Context, { limit }: BodyOptions): Response {
  return refuse(c, 413, `the body is larger than ${limit} bytes: raise the limit or send fewer nodes`);
}

interface Work {
  readonly host: Serving;
  readonly admitted: Admitted;
  readonly body: Uint8Array;
}

async function answerScheduler(
  verb: DecisionVerb,
  c: Context,
  { host, admitted }: Omit<Work, "body">,
): Promise<Response> {
  const started = host.now();
  const body = bodyOptions(c, host);
  const answer = await answerCall({ request: c.req.raw, body, decider: admitted.decider, verb, skims: host.skims });
  if (!answer) return tooLarge(c, body);
  host.health.called(verb);
  c.header("Berth-Policy", answer.policy);
  if (answer.error !== undefined && verb === "prioritize") host.health.gaveZeros();
  host.log(answer.error === undefined ? "info" : "error", "decision", {
    caller: admitted.caller.name,
    ...answer.fields,
    bytes: answer.bytes,
    milliseconds: host.now() - started,
  });
  return c.body(answer.body, 200, {
    "Content-Type": "application/json",
    // Cloudflare passes over it and counts for itself.
    ...(answer.length !== undefined && { "Content-Length": String(answer.length) }),
  });
}

async function answerInCluster(c: Context, { host, admitted, body }: Work, cluster: ClusterVerbs): Promise<Response> {
  const started = host.now();
  host.health.called(admitted.verb);
  const answer = await answerCluster(cluster, { admitted, body, signal: c.req.raw.signal });
  c.header("Berth-Policy", answer.policy);
  host.log(answer.error === undefined ? "info" : "warn", "decision", {
    caller: admitted.caller.name,
    policy: answer.policy,
    verb: admitted.verb,
    ...answer.fields,
    ...(answer.error !== undefined && { error: answer.error }),
    milliseconds: host.now() - started,
  });
  return c.body(answer.body, answer.status, { "Content-Type": "application/json" });
}

/** The body of a request that is turned away is read and forgotten, or the connection's next request would break. */
async function turnAway(c: Context, host: Serving, turned: Turned): Promise<Response> {
  host.log("warn", "request turned away", {
    status: turned.status,
    error: turned.error,
    caller: turned.caller?.name ?? null,
  });
  await discardBody(c.req.raw, bodyOptions(c, host));
  for (const [name, value] of Object.entries(turned.headers ?? {})) c.header(name, value);
  return refuse(c, turned.status, turned.error);
}

function refuse(c: Context, status: 400 | 401 | 403 | 404 | 405 | 413 | 415 | 500, error: string): Response {
  return c.json({ error }, status);
}
