import { request } from "node:https";
import { buffer } from "node:stream/consumers";
import { field, type Json } from "../protocol/json.ts";

/** Asks a function over HTTPS as kube-scheduler does, trusting one authority and nothing else. */
export interface FunctionClient {
  /** Such as `https://127.0.0.1:8787`. */
  readonly url: string;
  /**
   * @param path such as `/default/filter`
   * @param body JSON; makes it a POST
   * @throws {NoAnswerError} when there is no connection, no trust or no answer
   */
  ask(path: string, body?: string | Buffer): Promise<FunctionAnswer>;
}

/** An answer of the function. */
export interface FunctionAnswer {
  readonly status: number;
  /** `<profile>@<version>` from the header `Berth-Policy`. */
  readonly policy: string | undefined;
  readonly json: Json;
}

/** The function could not be reached. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

const TIMEOUT_MS = 10_000;

/**
 * A client for the function at a URL.
 *
 * @param ca the authority's certificate, PEM
 * @param signal ends requests that are on their way
 */
export function functionClient(url: string, ca: string, signal: AbortSignal): FunctionClient {
  return {
    url,
    async ask(path, body) {
      const { promise, resolve, reject } = Promise.withResolvers<FunctionAnswer>();
      const fail = (error: Error) => reject(new NoAnswerError(`${url} does not answer: ${error.message}`));
      const asked = request(`${url}${path}`, {
        ca,
        // wrangler's dev server drops its connections whenever it takes a new policy.
        agent: false,
        signal,
        timeout: TIMEOUT_MS,
        method: body === undefined ? "GET" : "POST",
        headers: body === undefined ? {} : { "Content-Type": "application/json" },
      });
      asked.on("response", (response) => {
        buffer(response).then((bytes) => {
          const policy = response.headers["berth-policy"];
          resolve({
            status: response.statusCode ?? 0,
            policy: typeof policy === "string" ? policy : undefined,
            json: parse(bytes.toString("utf8")),
          });
        }, fail);
      });
      asked.on("timeout", () => asked.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
      asked.on("error", fail);
      asked.end(body);
      return promise;
    },
  };
}

/** What an answer says went wrong, if it says so. */
export function errorOf({ json }: FunctionAnswer): string | undefined {
  const error = field(json, "error") ?? field(json, "Error");
  return typeof error === "string" && error !== "" ? error : undefined;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return { error: text.slice(0, 200) };
  }
}
