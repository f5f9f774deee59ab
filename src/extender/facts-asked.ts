import type { Context } from "hono";
import { PluginError } from "../policy/run.ts";
import { isObject, type JsonObject } from "../protocol/json.ts";
import { ShapeError } from "../protocol/scan.ts";
import { DEFAULT_BODY_LIMIT } from "./body.ts";
import type { Decider } from "./decider.ts";
import type { Log } from "./log.ts";
import { isPacked, packedJson, unpack } from "./packed.ts";

/** What of a host these answers need. */
interface FactsHost {
  readonly log: Log;
  readonly bodyLimit?: number;
  readonly packs?: boolean;
}

/** Answers `POST /<profile>/evaluate`. The question may be packed with gzip; it counts with all its bytes. */
export async function evaluate(
  c: Context,
  host: FactsHost,
  { decider, body }: { readonly decider: Decider; readonly body: Uint8Array },
): Promise<Response> {
  try {
    const question = isPacked(c.req.raw) ? await unpack(body, host.bodyLimit ?? DEFAULT_BODY_LIMIT) : body;
    if (question === undefined) return c.json({ error: "the body unpacks to more bytes than the limit" }, 413);
    return await json(c, host, (await decider.evaluate(parseQuestion(question))) as object);
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    host.log("error", "plugin failed", { policy: decider.policy, error: error.message });
    return c.json({ error: error.message }, 500);
  }
}

/** Answers `GET /<profile>`. */
export async function describe(c: Context, host: FactsHost, decider: Decider): Promise<Response> {
  const tag = `"${decider.policy}"`;
  c.header("ETag", tag);
  c.header("Cache-Control", "no-cache");
  const known = namesTag(c.req.header("If-None-Match") ?? "", tag);
  return known ? c.body(null, 304) : json(c, host, decider.describe() as object);
}

/** Whatever packs an answer on its way makes its tag a weak one (RFC 9110, 8.8.1 and 13.1.2). */
function namesTag(header: string, tag: string): boolean {
  return header.split(",").some((each) => each.trim().replace(/^W\//, "") === tag);
}

function parseQuestion(body: Uint8Array): JsonObject {
  const question = parseJson(body);
  if (isObject(question)) return question;
  throw new ShapeError("the body must be a JSON object");
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new ShapeError("the body is not JSON");
  }
}

/** With the headers that were set so far. */
async function json(c: Context, { packs }: FactsHost, answer: object): Promise<Response> {
  if (!packs) return c.json(answer);
  const { body, headers } = await packedJson(c.req.raw, answer);
  return c.body(body, 200, headers);
}
