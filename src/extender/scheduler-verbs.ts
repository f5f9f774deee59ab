import type { ExtenderArgs, Keep, Retain } from "../protocol/args.ts";
import type { JsonObject } from "../protocol/json.ts";
import { argsInPieces } from "../protocol/read-args.ts";
import type { Skims } from "../protocol/skim.ts";
import { type BodyOptions, readPieces } from "./body.ts";
import { podUid } from "./cluster-verbs.ts";
import { type Answer, answerOutcome } from "./decide.ts";
import type { Decider, DecisionVerb, Filtering } from "./decider.ts";

/** One call of kube-scheduler. */
export interface SchedulerCall {
  readonly request: Request;
  readonly body: BodyOptions;
  readonly decider: Decider;
  readonly verb: DecisionVerb;
  /** What makes reading cheaper, where the runtime has it. */
  readonly skims?: Skims | undefined;
}

/** What it is answered with. */
export interface SchedulerAnswer extends Answer {
  /** `<profile>@<version>` that decided. */
  readonly policy: string;
  /** The length of the request's body. */
  readonly bytes: number;
}

/**
 * Answers filter and prioritize. Nodes are read as they arrive and, where the decider can, filtered as they arrive: of a
 * node that does not fit, and of every node of prioritize, nothing is held but what the policy reads of it.
 *
 * @returns undefined when the body is larger than its limit
 * @throws {ShapeError} when it is not ExtenderArgs
 */
export async function answerCall({
  request,
  body,
  decider,
  verb,
  skims,
}: SchedulerCall): Promise<SchedulerAnswer | undefined> {
  let begun: Begun | undefined;
  const retain: Retain = (pod) => {
    if (verb === "prioritize") return keepNone;
    begun = beginFilter(decider, pod);
    return begun?.filtering.keep ?? keepAll;
  };
  const read = await readPieces(request, body, (length) =>
    argsInPieces({ wanted: decider.wanted, retain, length, skims }),
  );
  if (read === undefined) return undefined;
  const { value: args, bytes } = read;
  const own = decider.for?.(verb, podUid(args.pod)) ?? decider;
  const outcome = isOf(begun, args) ? begun.filtering.decide(args.nodes) : await own.decide(verb, args);
  return { ...answerOutcome(outcome, { policy: own.policy, verb, args }), policy: own.policy, bytes };
}

const keepNone: Keep = () => false;
const keepAll: Keep = () => true;

/** A filter that began before its nodes were there. */
interface Begun {
  readonly pod: JsonObject;
  readonly filtering: Filtering;
}

function beginFilter(decider: Decider, pod: JsonObject | undefined): Begun | undefined {
  const filtering = pod && decider.filtering?.(pod);
  return filtering && { pod, filtering };
}

/** Whether the request is still the one that the filter began with: its keys may have come again. */
function isOf(begun: Begun | undefined, { form, pod }: ExtenderArgs): begun is Begun {
  return form === "nodes" && begun?.pod === pod;
}
