import { promisify } from "node:util";
import { gunzip as gunzipCallback } from "node:zlib";
import { Agent, type Dispatcher } from "undici";
import { FunctionError, hungError, sayUnreachable, tooLargeError } from "./client-errors.ts";

const gunzip = promisify(gunzipCallback);

/** Where a function is and how it is asked. */
export interface FunctionOptions {
  /** `https://` and nothing but host, port and perhaps a path before the profile's. */
  readonly url: string;
  /** The bearer token, read for every request so that a token that was replaced is used at once. Never logged. */
  readonly token: () => string | undefined;
  /** The authorities that the function's certificate is verified with; absent: those of the system. */
  readonly caPem?: string;
  /**
   * What Cloudflare picks a version of the function by while two are deployed: the same key sees the same one
   * (https://developers.cloudflare.com/workers/configuration/versions-and-deployments/gradual-deployments/).
   */
  readonly versionKey: string;
}

/** One question. */
export interface FunctionRequest {
  /** Such as `/default/evaluate`. */
  readonly path: string;
  /** JSON; makes it a POST. */
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** For all of it: connecting, waiting, reading. In milliseconds. */
  readonly timeoutMs: number;
  /** The most that is read of the answer, before and after it is unpacked. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** What came back, whatever its status. */
export interface FunctionAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Unpacked. */
  readonly body: Uint8Array;
  /** How many bytes of body came over the network. */
  readonly bytes: number;
}

/** Asks a function over connections that are kept. */
export interface FunctionClient {
  /**
   * @throws {FunctionError} when there is no connection, no trust, no whole answer in time, or one that is too large
   */
  ask(request: FunctionRequest): Promise<FunctionAnswer>;
  /** Breaks what is under way and closes every connection. */
  close(): Promise<void>;
}

/** Connections to one function at a time; further requests wait in order. */
const CONNECTIONS = 16;

/** Longer than the pauses between pulls, so that a connection serves more than one. */
const KEEP_ALIVE_MS = 60_000;

/**
 * A client of one function. The certificate is verified, redirects are not followed: a token goes nowhere but to the
 * URL that was configured. HTTP/1.1 on purpose: a request past its deadline takes its own connection down, no other's.
 */
export function createFunctionClient(options: FunctionOptions): FunctionClient {
  const { origin, pathname } = new URL(options.url);
  const base = pathname.replace(/\/+$/, "");
  const agent = new Agent({
    connections: CONNECTIONS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { ...(options.caPem !== undefined && { ca: options.caPem }) },
  });
  return {
    async ask(request) {
      const deadline = AbortSignal.timeout(request.timeoutMs);
      const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
      try {
        const path = `${base}${request.path}`;
        const asked = { origin, path, headers: headersOf(options, request), signal, ...methodOf(request) };
        return await readAnswer(await agent.request(asked), request.maxBytes);
      } catch (error) {
        if (error instanceof FunctionError) throw error;
        throw deadline.aborted ? hungError(origin, request.timeoutMs) : sayUnreachable(origin, error);
      }
    },
    close: () => agent.destroy(),
  };
}

function methodOf({ body }: FunctionRequest): Pick<Dispatcher.RequestOptions, "method" | "body"> {
  return body === undefined ? { method: "GET" } : { method: "POST", body };
}

function headersOf({ token, versionKey }: FunctionOptions, request: FunctionRequest): Record<string, string> {
  const secret = token();
  return {
    ...request.headers,
    ...(request.body !== undefined && { "Content-Type": "application/json" }),
    ...(secret !== undefined && { Authorization: `Bearer ${secret}` }),
    "Accept-Encoding": "gzip",
    "Cloudflare-Workers-Version-Key": versionKey,
  };
}

async function readAnswer(response: Dispatcher.ResponseData, maxBytes: number): Promise<FunctionAnswer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLargeError(maxBytes);
    chunks.push(chunk);
  }
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), String(value ?? "")]),
  );
  const body = headers["content-encoding"] === "gzip" ? await unpack(chunks, maxBytes) : Buffer.concat(chunks);
  return { status: response.statusCode, headers, body, bytes };
}

async function unpack(chunks: readonly Uint8Array[], maxBytes: number): Promise<Uint8Array> {
  try {
    return await gunzip(Buffer.concat(chunks), { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLargeError(maxBytes);
    throw new FunctionError("the function's answer says that it is packed with gzip and is not");
  }
}
