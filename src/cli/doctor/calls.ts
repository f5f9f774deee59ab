import { formatDuration } from "../kube-scheduler/duration.ts";
import type { Answer, Asker, NoAnswer } from "./ask.ts";
import type { Question } from "./body.ts";
import { type Finding, ok, skipped, wrong } from "./finding.ts";
import { percentile, shownBytes } from "./numbers.ts";
import type { Target } from "./target.ts";

/** Everything the calls need. */
export interface CallContext {
  readonly target: Target;
  readonly asker: Asker;
  readonly question: Question;
  /** How often each verb is asked. */
  readonly times: number;
}

/** Which HTTP the connection speaks. */
export function protocolFinding(target: Target, protocol: string | undefined): Finding {
  if (protocol === "h2") return ok("HTTP", "HTTP/2: one connection carries every call.");
  const mend = "Serve HTTP/2 (`berth serve` and `berth binder` do): Go keeps two idle HTTP/1.1 connections only.";
  return target.address.https
    ? { step: "HTTP", status: "note", what: "HTTP/1.1.", mend }
    : ok("HTTP", "HTTP/1.1, as always without TLS.");
}

/** Asks the profile itself: whether the path is right and the caller may ask it. */
export async function profileFinding({ target, asker }: CallContext): Promise<Finding> {
  const answer = await asker.ask("");
  if ("timedOut" in answer) return noAnswer("profile", answer, target);
  const refusal = refusalOf("profile", answer, target);
  if (refusal) return refusal;
  if (!answer.berth) {
    return { step: "profile", status: "note", what: `Not Berth: GET of the prefix is answered ${answer.status}.` };
  }
  return ok("profile", `Answers by the policy ${answer.policy ?? "of this binder"}.`);
}

/** Calls a verb with a body as large as the cluster's, several times, and tells how long it takes. */
export async function verbFindings(verb: "filter" | "prioritize", context: CallContext): Promise<Finding[]> {
  const { target, asker, question, times } = context;
  const path = target.verbs[verb];
  if (path === undefined) return [];
  const took: number[] = [];
  const started = performance.now();
  while (took.length < times && (took.length < 3 || performance.now() - started < MOST_MS)) {
    const answer = await asker.ask(`/${path}`, question.text);
    if ("timedOut" in answer) return [noAnswer(verb, answer, target)];
    const problem = problemOf(verb, answer, context);
    if (problem) return [problem];
    took.push(answer.milliseconds);
  }
  return [latency(verb, took, context)];
}

/** What all calls of one verb may take together. */
const MOST_MS = 10_000;

/** bind and preempt, which move pods, are asked about nothing: it is the right to ask that is looked at. */
export async function movingFinding({ target, asker }: CallContext): Promise<Finding[]> {
  const { bind, preempt } = target.verbs;
  const path = preempt ?? (bind === undefined ? undefined : "preempt");
  if (path === undefined) return [];
  const step = bind === undefined ? "preempt" : "bind";
  const answer = await asker.ask(`/${path}`, JSON.stringify({ Pod: { metadata: {} }, NodeNameToMetaVictims: {} }));
  if ("timedOut" in answer) return [noAnswer(step, answer, target)];
  if (answer.text.includes("it is the binder's verb")) {
    const what = "This is a function: bind and preempt are the binder's.";
    return [wrong(step, "failed", what, "Name the binder in urlPrefix, or leave bindVerb and preemptVerb out.")];
  }
  // The question is an empty one: how it is answered does not matter, only that it is heard.
  const refusal = [401, 403, 404].includes(answer.status) ? refusalOf(step, answer, target) : undefined;
  return [refusal ?? ok(step, "This caller may move pods.")];
}

function latency(verb: string, took: readonly number[], { target, question }: CallContext): Finding {
  const [middle, worst] = [percentile(took, 0.5), percentile(took, 0.99)];
  const what =
    `${question.nodes} nodes, ${shownBytes(question.bytes)} (${question.source}): ` +
    `p50 ${Math.round(middle)} ms, p99 ${Math.round(worst)} ms of ${took.length} calls; ` +
    `kube-scheduler waits ${formatDuration(target.timeoutMs)}.`;
  return worst * 2 <= target.timeoutMs ? ok(verb, what) : wrong(verb, "warning", what, FASTER);
}

const FASTER =
  "kube-scheduler places one pod at a time and waits for each call. Send less (nodeCacheCapable with a binder, " +
  "managedResources), bring the function nearer, or give it more CPU; a longer httpTimeout makes every hang dearer.";

function noAnswer(step: string, { timedOut, code }: NoAnswer, target: Target): Finding {
  const wait = formatDuration(target.timeoutMs);
  if (!timedOut) {
    return wrong(step, "failed", `The connection broke off (${code}).`, "Look at the server's log for the reason.");
  }
  const cost = target.ignorable ? "every pod waits that long and goes on without it" : "no pod is placed";
  return wrong(step, "failed", `Too slow: no answer within ${wait}, so ${cost}.`, FASTER);
}

function problemOf(verb: string, answer: Answer, { target, question }: CallContext): Finding | undefined {
  if (answer.status === 413) return tooLarge(verb, question);
  const refusal = refusalOf(verb, answer, target);
  if (refusal) return refusal;
  const json = parse(answer.text);
  const error = (json as { readonly Error?: unknown } | undefined)?.Error;
  if (typeof error === "string" && error !== "") {
    return wrong(verb, "failed", `It answers, and says: ${error}`, "Mend what it says; pods carry it in their events.");
  }
  const shaped = verb === "prioritize" ? Array.isArray(json) : json !== null && typeof json === "object";
  return shaped ? undefined : wrong(verb, "failed", "The answer is not an extender's.", WRONG_PATH);
}

function tooLarge(verb: string, { bytes, nodes, source }: Question): Finding {
  return wrong(
    verb,
    "failed",
    `Over the body limit: ${nodes} nodes are ${shownBytes(bytes)} (${source}), and it answers 413.`,
    "Raise BERTH_BODY_LIMIT where the platform allows it (AWS Lambda takes 6 MB and no more), send names instead " +
      "(nodeCacheCapable: true with a binder), or fewer nodes (percentageOfNodesToScore).",
  );
}

const WRONG_PATH =
  "Correct urlPrefix: it ends in the name of a profile of berth.yaml, behind the path secret if there is one, " +
  "and has no verb.";

/** Other statuses than 200: kube-scheduler throws the body away, so here it is put into words. */
function refusalOf(step: string, { status, text, berth }: Answer, target: Target): Finding | undefined {
  const failed = (what: string, mend: string) => wrong(step, "failed", `${what} (HTTP ${status})`, mend);
  switch (status) {
    case 200:
      return undefined;
    case 401:
      return failed("The credential is missing or not accepted.", credentialMend(target));
    case 403:
      return failed(
        "The caller may not move pods: that takes a verified client certificate.",
        "Give tlsConfig.certFile and keyFile a certificate that berth.yaml names as {certificate: …}.",
      );
    case 404:
      return berth && text.includes("no such profile for this caller")
        ? failed(
            "The caller is known, but may not ask this profile, or there is none of that name.",
            "Add the profile to the caller's `profiles` in berth.yaml, or correct the last part of urlPrefix.",
          )
        : failed(berth ? "No such path: or the path secret is wrong." : "No such path.", WRONG_PATH);
    default:
      return step === "profile" && !berth ? undefined : failed("Refused.", "The server's log has the reason.");
  }
}

function credentialMend({ client, authorization, address }: Target): string {
  if (!address.https) return "Over plain HTTP: set BERTH_OPEN=loopback on the server, or call it over HTTPS.";
  if (client) {
    return "The client certificate is of an authority that BERTH_CLIENT_CA does not hold, or its name is no caller's in berth.yaml.";
  }
  if (authorization) return "User and password in the URL are no caller's `basic` secret.";
  return "None was sent: give tlsConfig.certFile and keyFile, or put the path secret into urlPrefix.";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** For hosts that give no question. */
export function noQuestion(verb: string): Finding {
  return skipped(verb, "Asked by names, of which only the cluster has the right ones.", "Give --kubeconfig.");
}
