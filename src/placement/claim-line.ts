import type { Claim } from "./model.ts";

/** How a ledger writes amounts, and times in nanoseconds: JSON's numbers are too small for them. */
export const WHOLE = /^[0-9]{1,39}$/;

/**
 * A claim as one line of a ledger: `<namespace>/<pod> device=0 amount=4 uid=… claim=… assumeTime=… claimedAt=…`, its
 * words escaped as in a URL.
 *
 * A line, because the API server looks at each value of a custom resource one by one, on each write, however little
 * changed: sixteen claims as objects take it twice as long as all the rest of a bind.
 *
 * @throws RangeError when a time lies outside of what a date can express
 */
export function writeClaimLine(claim: Claim): string {
  const { id, podUid, namespace, podName, device, amount, assumeTime, claimedAt } = claim;
  const words = {
    device,
    amount: amount.toString(),
    uid: podUid,
    claim: id,
    assumeTime: assumeTime.toString(),
    claimedAt: new Date(claimedAt).toISOString(),
  };
  const pod = `${encodeURIComponent(namespace)}/${encodeURIComponent(podName)}`;
  return [pod, ...Object.entries(words).map(([name, value]) => `${name}=${escapeWord(value)}`)].join(" ");
}

/** Times stay as people write them. */
function escapeWord(value: string): string {
  return encodeURIComponent(value).replaceAll("%3A", ":");
}

/** Reads a line as {@link writeClaimLine} has written it, words in any order; gives what is wrong with any other one. */
export function readClaimLine(line: string): Claim | { readonly fault: string } {
  const [pod = "", ...words] = line.split(" ");
  const values = new Map(words.map((word) => wordOf(word)));
  const [namespace, podName] = pod.split("/").map(unescapeWord);
  const text = (name: string): string => unescapeWord(values.get(name) ?? "") ?? "";
  const [device, podUid, id] = [text("device"), text("uid"), text("claim")];
  const [amount, assumeTime, claimedAt] = [
    whole(text("amount")),
    whole(text("assumeTime")),
    instant(text("claimedAt")),
  ];
  if (!namespace || !podName) return { fault: "expected <namespace>/<pod> first" };
  if (device === "" || podUid === "" || id === "") return { fault: "expected device=, uid= and claim=" };
  if (amount === undefined || assumeTime === undefined) {
    return { fault: "expected amount= and assumeTime= with a decimal number each" };
  }
  if (claimedAt === undefined) return { fault: "expected claimedAt= with a time" };
  return { id, podUid, namespace, podName, device, amount, assumeTime, claimedAt };
}

function wordOf(word: string): [string, string] {
  const at = word.indexOf("=");
  return at === -1 ? [word, ""] : [word.slice(0, at), word.slice(at + 1)];
}

function unescapeWord(word: string): string | undefined {
  try {
    return decodeURIComponent(word);
  } catch {
    return undefined;
  }
}

function whole(text: string): bigint | undefined {
  return WHOLE.test(text) ? BigInt(text) : undefined;
}

/** As {@link writeClaimLine} writes it: whatever else a Date takes for a time is not worth guessing at. */
function instant(text: string): number | undefined {
  const time = Date.parse(text);
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) && !Number.isNaN(time) ? time : undefined;
}
