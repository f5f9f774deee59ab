import { type Context, Hono } from "hono";
import { readArgs } from "../protocol/args.ts";
import { ShapeError } from "../protocol/scan.ts";
import { type Admitted, admit, type Turned } from "./admit.ts";
import {
  type BodyOptions,
  BrokenBodyError,
  DEFAULT_BODY_LIMIT,
  discardBody,
  type ReadChunks,
  readBody,
  SpareBuffer,
} from "./body.ts";
import type { Identify, Peer } from "./callers.ts";
import { answerCluster, barred, type ClusterVerbs, podUid } from "./cluster-verbs.ts";
import { decideAndAnswer } from "./decide.ts";
import type { Deciders, DecisionVerb } from "./decider.ts";
import { describe, evaluate } from "./facts-asked.ts";
import { createHealth, type Health } from "./health.ts";
import type { Log } from "./log.ts";

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
  readonly chunks?: ReadChunks;
  /** True where nothing between the app and its callers packs answers; Cloudflare does so by itself. */
  readonly packs?: boolean;
  /** bind and preempt, where the cluster is at hand; without it they are not answered. */
  readonly cluster?: ClusterVerbs;
}

/** A host, with what one app keeps between requests. */
interface Serving extends Host {
  readonly health: Health;
  readonly spare: SpareBuffer;
}

/** The extender as a Hono app; its handlers log through a log that knows the request. */
export type App = Hono<{ readonly Variables: { log: Log } }>;

/**
 * The extender as a value: give it to any runtime that speaks Fetch. Every answer has the id of its request in the
 * header `Berth-Request`, and every log line of that request the same id in its field `request`.
 */
export function createApp(host: Host): App {
  const health = createHealth(host.now);
  const spare = new SpareBuffer();
  const app: App = new Hono();
  app.use(async (c, next) => {
    const request = crypto.randomUUID();
    c.set("log", (level, message, fields) => host.log(level, message, { request, ...fields }));
    c.header("Berth-Request", request);
    await next();
  });
  app.get("/healthz", (c) => c.json(health.report()));
  app.all("/healthz", (c) => c.json({ error: "healthz is asked with GET" }, 405, { Allow: "GET" }));
  app.all("*", (c) => serve(c, { ...host, log: c.get("log"), health, spare }));
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
  const options = bodyOptions(c, host);
  const body = await readBody(request, options);
  if (!body)
    return refuse(c, 413, `the body is larger than ${options.limit} bytes: raise the limit or send fewer nodes`);
  try {
    return await dispatch(c, { host, admitted, body });
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    host.log("warn", "request refused", { caller: admitted.caller.name, verb: admitted.verb, error: error.message });
    return refuse(c, 400, error.message);
  } finally {
    host.spare.give(body);
  }
}

function bodyOptions(c: Context, { bodyLimit = DEFAULT_BODY_LIMIT, chunks, spare }: Serving): BodyOptions {
  return { limit: bodyLimit, spare, ...(chunks && { chunks: chunks(c.req.raw, c.env) }) };
}

interface Work {
  readonly host: Serving;
  readonly admitted: Admitted;
  readonly body: Uint8Array;
}

async function dispatch(c: Context, work: Work): Promise<Response> {
  switch (work.admitted.verb) {
    case "filter":
    case "prioritize":
      return await answerScheduler(work.admitted.verb, c, work);
    case "evaluate":
      return await evaluate(c, work.host, { decider: work.admitted.decider, body: work.body });
    default:
      if (work.host.cluster) return await answerInCluster(c, work, work.host.cluster);
      return refuse(c, 404, `${work.admitted.verb} is not answered here: it is the binder's verb`);
  }
}

async function answerScheduler(verb: DecisionVerb, c: Context, work: Work): Promise<Response> {
  const { host, admitted, body } = work;
  const started = host.now();
  host.health.called(verb);
  const args = readArgs(body, admitted.decider.wanted);
  const decider = admitted.decider.for?.(verb, podUid(args.pod)) ?? admitted.decider;
  c.header("Berth-Policy", decider.policy);
  const answer = await decideAndAnswer(decider, verb, args);
  if (answer.error !== undefined && verb === "prioritize") host.health.gaveZeros();
  host.log(answer.error === undefined ? "info" : "error", "decision", {
    caller: admitted.caller.name,
    ...answer.fields,
    bytes: body.byteLength,
    milliseconds: host.now() - started,
  });
  return c.body(answer.body, 200, { "Content-Type": "application/json" });
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
