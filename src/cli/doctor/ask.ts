import { Agent, request } from "undici";
import type { Target } from "./target.ts";

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The header `Berth-Policy`, where Berth answered. */
  readonly policy: string | undefined;
  /** True when the answer is Berth's: it names the request. */
  readonly berth: boolean;
  readonly milliseconds: number;
}

/** No answer: the time was over, or the connection broke. */
export interface NoAnswer {
  readonly timedOut: boolean;
  /** A code such as `ECONNRESET`. */
  readonly code: string;
}

/** Calls a target over connections that are kept, as kube-scheduler's client does. */
export interface Asker {
  /** @param path with its slash; put behind the urlPrefix. A body makes it a POST. */
  ask(path: string, body?: string): Promise<Answer | NoAnswer>;
  /** Asks a path of the server itself, whatever the urlPrefix is. */
  askRoot(path: string): Promise<Answer | NoAnswer>;
  close(): Promise<void>;
}

/** An asker for a target whose certificate has been judged already. */
export function createAsker(target: Target, now: () => number): Asker {
  const dispatcher = new Agent({
    allowH2: true,
    connect: {
      ca: target.trusted as string | string[],
      ...target.client,
      rejectUnauthorized: target.verification !== "nobody",
      ...(target.serverName !== undefined && { servername: target.serverName }),
    },
  });
  const send = async (url: string, body?: string): Promise<Answer | NoAnswer> => {
    const started = now();
    try {
      const {
        statusCode,
        headers,
        body: answer,
      } = await request(url, {
        dispatcher,
        method: body === undefined ? "GET" : "POST",
        headers: {
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...(target.authorization !== undefined && { Authorization: target.authorization }),
        },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(target.timeoutMs),
      });
      const text = await answer.text();
      const policy = headers["berth-policy"];
      return {
        status: statusCode,
        text,
        policy: typeof policy === "string" ? policy : undefined,
        berth: headers["berth-request"] !== undefined,
        milliseconds: now() - started,
      };
    } catch (error) {
      const { name, code = "no connection" } = error as { readonly name?: string; readonly code?: string };
      return { timedOut: name === "TimeoutError", code: String(code) };
    }
  };
  return {
    ask: (path, body) => send(`${target.prefix}${path}`, body),
    askRoot: (path) => send(new URL(path, target.prefix).href),
    close: () => dispatcher.close(),
  };
}
