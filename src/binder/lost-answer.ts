import type { Binder } from "../placement/bind.ts";
import type { BindAnswer } from "../placement/bind-answer.ts";
import { type FreshPod, readPod, standing } from "../placement/standing.ts";
import type { BindArgs } from "../protocol/bind.ts";

/** How often the pod is looked at, and how long between the times, in milliseconds. */
const LOOKS = 3;
const BETWEEN = 500;

/**
 * What became of a Binding whose answer was lost, told from the pod itself: whoever asked need not fail a pod that is
 * bound, and its event is not lost with the answer. Changes nothing; an answer that stays unknown stays as it is.
 */
export async function lookAfterLoss(
  { context }: Pick<Binder, "context">,
  args: BindArgs,
  answer: BindAnswer,
): Promise<BindAnswer> {
  if (answer.kind !== "unknown") return answer;
  let read = await readPod(context, args);
  for (let looks = 1; read.kind === "unknown" && looks < LOOKS; looks++) {
    await new Promise((resolve) => setTimeout(resolve, BETWEEN));
    read = await readPod(context, args);
  }
  return judge(read, args, answer);
}

function judge(
  read: FreshPod,
  { uid, node }: BindArgs,
  lost: Extract<BindAnswer, { readonly kind: "unknown" }>,
): BindAnswer {
  if (read.kind !== "pod" || standing(read.pod, uid, node) !== "here") return lost;
  const { claim } = lost;
  if (claim === undefined) return { kind: "bound", byThis: true };
  // An assume time is given once on a node.
  const byThis = read.pod.assigned?.assumeTime === claim.assumeTime;
  return byThis ? { kind: "bound", byThis, claim } : { kind: "bound", byThis };
}
