import type { Caller, Identify, Peer } from "./callers.ts";
import type { Decider, Deciders } from "./decider.ts";

/** Every verb a profile's path can end in. */
const VERBS = ["filter", "prioritize", "evaluate", "preempt", "bind"] as const;

/** The verb of a request; `describe` is the GET of the profile itself. */
export type Verb = (typeof VERBS)[number] | "describe";

/** A request that may go on. */
export interface Admitted {
  readonly caller: Caller;
  readonly verb: Verb;
  readonly profile: string;
  readonly decider: Decider;
}

/** A request that may not, with what it is told. Says nothing that a caller without a credential could learn from. */
export interface Turned {
  readonly status: 401 | 403 | 404 | 405 | 415;
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly caller?: Caller;
}

/** Decides from the request line, the headers and the connection alone; the body is not touched. */
export async function admit(
  request: Request,
  doors: { readonly identify: Identify; readonly deciders: Deciders; readonly peer: Peer },
): Promise<Admitted | Turned> {
  const target = parsePath(new URL(request.url).pathname);
  if (!target) return { status: 404, error: "no such path" };
  const authorization = request.headers.get("authorization") ?? undefined;
  const caller = await doors.identify({
    peer: doors.peer,
    ...(target.secret !== undefined && { path: target.secret }),
    ...(authorization !== undefined && { authorization }),
  });
  if (!caller) return unknownCaller(target);
  const allowed = caller.profiles === undefined || caller.profiles.includes(target.profile);
  const decider = allowed ? doors.deciders(target.profile) : undefined;
  // Not by its name: a path secret may stand where the profile belongs.
  if (!decider) return { status: 404, error: "no such profile for this caller", caller };
  const wrong = wrongForm(request, target.verb);
  return wrong ? { ...wrong, caller } : { caller, verb: target.verb, profile: target.profile, decider };
}

interface Target {
  readonly secret?: string;
  readonly profile: string;
  readonly verb: Verb;
}

/**
 * `/<profile>`, `/<profile>/<verb>`, or either behind a secret. Profiles cannot be named as verbs, so two segments
 * are never ambiguous.
 */
function parsePath(path: string): Target | undefined {
  const [first, second, third, ...more] = segmentsOf(path);
  if (!first || more.length > 0) return undefined;
  if (second === undefined) return { profile: first, verb: "describe" };
  const verb = verbOf(third ?? second);
  if (third !== undefined) return verb && { secret: first, profile: second, verb };
  return verb ? { profile: first, verb } : { secret: first, profile: second, verb: "describe" };
}

function segmentsOf(path: string): string[] {
  try {
    return path.replace(/^\//, "").replace(/\/$/, "").split("/").map(decodeURIComponent);
  } catch {
    return [];
  }
}

function verbOf(segment: string): Verb | undefined {
  return VERBS.find((verb) => verb === segment);
}

/** A wrong path secret looks like a path that does not exist. */
function unknownCaller(target: Target): Turned {
  if (target.secret !== undefined) return { status: 404, error: "no such path" };
  return {
    status: 401,
    error: "a credential is missing or not accepted",
    headers: { "WWW-Authenticate": 'Bearer realm="berth", Basic realm="berth"' },
  };
}

function wrongForm(request: Request, verb: Verb): Turned | undefined {
  const method = verb === "describe" ? "GET" : "POST";
  if (request.method !== method && !(method === "GET" && request.method === "HEAD")) {
    return { status: 405, error: `${verb} is asked with ${method}`, headers: { Allow: method } };
  }
  if (method === "POST" && !isJson(request.headers.get("content-type"))) {
    return { status: 415, error: "the body must be application/json" };
  }
  return undefined;
}

function isJson(contentType: string | null): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType?.trim() ?? "");
}
