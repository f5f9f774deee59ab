import { RELEASE } from "../protocol/release.ts";

/** Everything that decides what a profile says of a pod. */
export interface Decisive {
  readonly profile: unknown;
  readonly facts: unknown;
  /** The versions of the profile's plugins, in its order: a plugin of one's own changes without the release. */
  readonly plugins: readonly number[];
}

/**
 * The version of a profile: 12 hex digits of a SHA-256 over the profile, its plugins' versions, the facts of the fleet
 * and the release. The order of keys in the files does not matter; the order of plugins does.
 */
export async function policyVersion(decisive: Decisive): Promise<string> {
  const text = canonicalJson({ ...decisive, release: RELEASE });
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest, 0, 6), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** JSON with the keys of every object sorted, so that equal values give equal texts. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
