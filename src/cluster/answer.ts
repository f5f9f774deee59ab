import { field, isObject, type JsonObject } from "../protocol/json.ts";

/** What came of a call to the API server: a value for everything that can happen on the way. */
export type Answer = Ok | Failure;

/** HTTP 2xx. */
export interface Ok {
  readonly kind: "ok";
  readonly status: number;
  /** The object answered; empty for a call that asked for no body, or for its bytes. */
  readonly object: JsonObject;
  /** The body as it came, for a call that asked for that. */
  readonly bytes?: Uint8Array;
}

/** What is not a success. `message` is one sentence with method, path and the server's own words, never a credential. */
export type Failure = Refused | Unknown;

/** HTTP 4xx: certain not to have taken effect. */
export interface Refused {
  /**
   * `notFound`: 404. `conflict`: 409, a precondition failed or the name is taken. `forbidden`: 401 or 403.
   * `invalid`: every other 4xx, with 410 (the version is too old) and 429 (ask later) among them.
   */
  readonly kind: "notFound" | "conflict" | "forbidden" | "invalid";
  readonly status: number;
  /** The `reason` of the server's Status, such as `AlreadyExists`; empty when the body was none. */
  readonly reason: string;
  readonly message: string;
  /** Milliseconds that the server asks to wait (header `Retry-After`). */
  readonly retryAfter?: number;
}

/** Nobody knows: a write may have taken effect, or may still do so later. */
export interface Unknown {
  readonly kind: "unknown";
  /**
   * `timeout`: no whole answer within the deadline. `reset`: no connection, or one that broke. `server`: 5xx.
   * `unreadable`: 2xx with a body that is no JSON object. `credentials`: none could be had, nothing was sent.
   * `closed`: the connection was closed or the call taken back by its caller.
   */
  readonly cause: "timeout" | "reset" | "server" | "unreadable" | "credentials" | "closed";
  readonly status?: number;
  readonly message: string;
}

/** What the API server sent. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  /** The body of a success in place of its text, where that was asked for. */
  readonly bytes?: Uint8Array;
  /** The header `Retry-After`. */
  readonly retryAfter?: string | undefined;
}

const REFUSALS: Readonly<Record<number, Refused["kind"]>> = {
  401: "forbidden",
  403: "forbidden",
  404: "notFound",
  409: "conflict",
};

/** Names a whole reply. `call` is what was asked, such as `GET /api/v1/nodes`. */
export function judge(call: string, reply: Reply): Answer {
  const { status, text } = reply;
  if (status >= 200 && status < 300) return success(call, status, text);
  const { reason, message } = readStatus(text);
  const sentence = `${call} was answered ${status}${reason && ` ${reason}`}${message && `: ${message}`}`;
  if (status < 400 || status >= 500) return { kind: "unknown", cause: "server", status, message: sentence };
  const wait = Number(reply.retryAfter);
  return {
    kind: REFUSALS[status] ?? "invalid",
    status,
    reason,
    message: sentence,
    ...(wait > 0 && { retryAfter: wait * 1000 }),
  };
}

function success(call: string, status: number, text: string): Answer {
  const object = parseObject(text);
  if (object !== undefined) return { kind: "ok", status, object };
  return {
    kind: "unknown",
    cause: "unreadable",
    status,
    message: `${call} was answered ${status} without a JSON object`,
  };
}

/** A JSON object, or undefined for any other text. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reason and message of a `metav1.Status`; of any other text the beginning. */
function readStatus(text: string): { readonly reason: string; readonly message: string } {
  const status = parseObject(text);
  if (status === undefined) return { reason: "", message: text.slice(0, 200).trim() };
  const reason = field(status, "reason");
  const message = field(status, "message");
  return { reason: typeof reason === "string" ? reason : "", message: typeof message === "string" ? message : "" };
}
