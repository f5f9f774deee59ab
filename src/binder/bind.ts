import type { EventDraft } from "../cluster/event-object.ts";
import type { Asking, Bound } from "../extender/cluster-verbs.ts";
import { assignDevice } from "../placement/assign.ts";
import { type Binder, bindPod, POLICY_ANNOTATION } from "../placement/bind.ts";
import type { BindAnswer } from "../placement/bind-answer.ts";
import { assignmentAnnotations } from "../placement/gpushare.ts";
import type { DeviceContract } from "../placement/promise.ts";
import type { BindArgs } from "../protocol/bind.ts";
import type { Attempts } from "./attempts.ts";
import { bindRefusedEvent, deviceAssignedEvent, scheduledEvent } from "./events.ts";
import { lookAfterLoss } from "./lost-answer.ts";
import type { State } from "./state.ts";

/** How long the node of a bind may still become known, in milliseconds. */
const NEW_NODE_MS = 200;

/** When an answer goes out at the latest, in milliseconds: kube-scheduler waits 5 seconds unless it is told otherwise. */
const ANSWER_WITHIN = 4_000;

/** What binding needs. */
export interface BindOptions {
  readonly state: State;
  readonly protocol: Binder;
  readonly attempts: Attempts;
  /** Must not throw. */
  record(event: EventDraft): void;
  /** Default 4,000 ms. */
  readonly answerWithin?: number;
}

/** How gpushare's devices are given: best fit on what is bound, promised and nominated. */
export function deviceContract(state: Pick<State, "usage">): DeviceContract {
  return {
    choose: (pod, node, claims) => assignDevice(pod, node, state.usage(node, { for: pod }, claims)),
    annotations: assignmentAnnotations,
  };
}

/**
 * Binds a pod and answers in time. A Binding that is still under way then goes on, and so does one whose caller has
 * left: once it has taken effect the binder emits the event that kube-scheduler would have emitted, unless another attempt
 * for the pod tells it.
 */
export async function bindLive(options: BindOptions, args: BindArgs, asking: Asking): Promise<Bound> {
  let answered = false;
  const ended = options.attempts.begin(args.uid);
  const end = (answer?: BindAnswer): void => {
    const bound = answer?.kind === "bound";
    const left = answered || asking.signal.aborted;
    const owed = ended({ bound, byThis: bound && answer.byThis, left });
    report(options, args, { ...(answer && { answer }), owed });
  };
  const binding = bindNow(options, args, asking.policy).then(
    (answer) => {
      end(answer);
      return answer;
    },
    (error: unknown) => {
      end();
      throw error;
    },
  );
  const outcome = await within(options.answerWithin ?? ANSWER_WITHIN, binding);
  answered = true;
  return describe(args, outcome ?? LATE);
}

const LATE: BindAnswer = {
  kind: "unknown",
  reason: "The API server did not answer in time; the Binding may still take effect",
  detail: "answered before the end",
};

async function bindNow({ state, protocol }: BindOptions, args: BindArgs, policy: string): Promise<BindAnswer> {
  const { namespace, name, uid } = args;
  const node = await state.nodes.wait(args.node, NEW_NODE_MS);
  if (node === undefined) {
    const reason = "The node is not known to the binder yet";
    return { kind: "refused", cause: "unreachable", reason, detail: `node ${args.node}` };
  }
  const seen = state.pods.byUid(uid);
  const annotations = { [POLICY_ANNOTATION]: policy };
  const answer = await bindPod(protocol, { namespace, name, uid, node, annotations, ...(seen && { seen }) });
  return lookAfterLoss(protocol, args, answer);
}

function report(
  { record }: BindOptions,
  args: BindArgs,
  { answer, owed }: { readonly answer?: BindAnswer; readonly owed: boolean },
): void {
  if (answer?.kind === "refused") record(bindRefusedEvent(args, answer.reason));
  if (answer?.kind === "bound" && answer.byThis && answer.claim) record(deviceAssignedEvent(args, answer.claim));
  if (owed) record(scheduledEvent(args));
}

function describe({ namespace, name, uid, node }: BindArgs, answer: BindAnswer): Bound {
  const fields = { pod: `${namespace}/${name}`, uid, node };
  if (answer.kind === "bound") {
    const { device, id } = answer.claim ?? {};
    return { fields: { ...fields, outcome: "bound", ...(device !== undefined && { device, claim: id }) } };
  }
  const outcome = answer.kind === "refused" ? answer.cause : "unknown";
  return { error: answer.reason, fields: { ...fields, outcome, detail: answer.detail } };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
