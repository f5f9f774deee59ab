import type { FunctionAnswer, FunctionClient } from "./client.ts";
import { FunctionError } from "./client-errors.ts";

/** A document as it came, not checked yet, and the tag to ask by next time. */
export interface Pulled {
  readonly bytes: Uint8Array;
  readonly tag: string | undefined;
}

/** The largest document that is taken: thousands of prices fit many times over. */
export const MOST_BYTES = 8 * 1024 * 1024;

/** Short enough to be asking again within seconds after a function has hung. */
const TIMEOUT_MS = 3_000;

/**
 * Asks for a profile's document.
 *
 * @param tag of the document that came last
 * @returns undefined when the function still has that one
 * @throws {FunctionError} with a sentence for people
 */
export async function pullProfile(
  client: FunctionClient,
  profile: string,
  { tag, signal }: { readonly tag: string | undefined; readonly signal: AbortSignal },
): Promise<Pulled | undefined> {
  const answer = await client.ask({
    path: `/${profile}`,
    headers: tag === undefined ? {} : { "If-None-Match": tag },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MOST_BYTES,
    signal,
  });
  if (answer.status === 304 && tag !== undefined) return undefined;
  if (answer.status !== 200) throw new FunctionError(refusalOf(answer, profile));
  return { bytes: answer.body, tag: answer.headers["etag"] };
}

function refusalOf({ status }: FunctionAnswer, profile: string): string {
  switch (status) {
    case 401:
    case 403:
      return "the function does not accept the token: BERTH_FUNCTION_TOKEN has to be the secret of a bearer credential in its berth.yaml";
    case 404:
      return `the function has no profile ${profile} for this token: its berth.yaml has to name it in profiles and under the caller`;
    default:
      return `the function answered ${status} when it was asked for profile ${profile}`;
  }
}
