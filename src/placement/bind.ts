import { type BindAnswer, refuse, refuseDevice, unknownAnswer } from "./bind-answer.ts";
import { claimOf, withoutClaims } from "./claims.ts";
import type { Lanes } from "./lanes.ts";
import type { ProtocolContext } from "./ledger-store.ts";
import type { Claim, PlacedNode, PlacedPod } from "./model.ts";
import { isTerminating } from "./placed.ts";
import type { BindingOutcome, PodRef } from "./ports.ts";
import { type DeviceContract, promiseDevice } from "./promise.ts";
import { type FreshPod, readPod, standing } from "./standing.ts";

/** The annotation that names the policy a pod was placed by, as `<profile>@<version>`. */
export const POLICY_ANNOTATION = "berth.dev/policy";

/** How often a Binding is tried against a pod that others change too. */
const TRIES = 3;

/** A pod to bind, as kube-scheduler asks for it. */
export interface BindRequest extends PodRef {
  readonly uid: string;
  readonly node: PlacedNode;
  /** Annotations to bind with beside those of the device. */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * The pod as an informer has shown it, which saves a read. It may be out of date: a Binding with an old
   * resourceVersion is refused, and then the pod is read.
   */
  readonly seen?: PlacedPod;
}

/** What binding works with. */
export interface Binder {
  readonly context: ProtocolContext;
  readonly lanes: Lanes;
  readonly contract: DeviceContract;
}

/**
 * Binds a pod to a node, with a device where it asks for one. Safe at any moment, whoever else binds, revokes, dies or
 * sleeps meanwhile, because of one rule: **a Binding carries a resourceVersion of the pod that was seen before its
 * claim was written**. Who takes the claim away changes the pod first, so the Binding is refused from then on, however
 * late it arrives. For the same reason every Binding has a claim id of its own, and a pod that is claimed again stays
 * on its device until a revocation has made its earlier Bindings void.
 *
 * A Binding whose answer was lost is never tried again in here.
 */
export async function bindPod(binder: Binder, request: BindRequest): Promise<BindAnswer> {
  let read = remembered(request) ?? (await readPod(binder.context, request));
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await attempt(binder, request, read);
    if (answer.kind !== "conflict") return answer;
    read = await readPod(binder.context, request);
  }
  const settled = await settle(binder, request, read);
  return "kind" in settled ? settled : refuse("changing", `gave up after ${TRIES} attempts`);
}

type Attempt = BindAnswer | { readonly kind: "conflict" };

async function attempt(binder: Binder, request: BindRequest, read: FreshPod): Promise<Attempt> {
  const settled = await settle(binder, request, read);
  if ("kind" in settled) return settled;
  const { pod } = settled;
  return pod.request === 0n ? bindPlain(binder, request) : bindDevice(binder, request, pod);
}

function remembered({ seen, uid }: BindRequest): FreshPod | undefined {
  return seen?.uid === uid ? { kind: "pod", pod: seen } : undefined;
}

/** The answer that the pod's own state gives; the pod, when it is still to be bound. */
async function settle(
  binder: Binder,
  request: BindRequest,
  read: FreshPod,
): Promise<BindAnswer | { readonly pod: PlacedPod }> {
  if (read.kind === "unknown") return refuse("unreachable", read.message);
  const pod = read.kind === "pod" ? read.pod : undefined;
  const stands = standing(pod, request.uid, request.node.name);
  if (stands === "here") return { kind: "bound", byThis: false };
  if (stands === "open" && pod !== undefined) return unfit(pod) ?? { pod };
  const ledger = binder.lanes.peek(request.node.name);
  if (ledger !== undefined && claimOf(ledger, request.uid) !== undefined) await release(binder, request);
  return over(request, pod);
}

function unfit(pod: PlacedPod): BindAnswer | undefined {
  if (isTerminating(pod)) return refuse("ended", "deletionTimestamp is set");
  return pod.problem === undefined ? undefined : refuseDevice(pod.problem, pod);
}

function over(request: BindRequest, pod?: PlacedPod): BindAnswer {
  const what = `pod ${request.namespace}/${request.name}`;
  if (pod === undefined) return refuse("gone", what);
  if (pod.uid !== request.uid) return refuse("replaced", `${what} has UID ${pod.uid}, asked for ${request.uid}`);
  return pod.terminal ? refuse("ended", what) : refuse("elsewhere", `${what} is bound to ${pod.nodeName}`);
}

async function bindPlain({ context }: Binder, request: BindRequest): Promise<Attempt> {
  const { namespace, name, uid, node, annotations = {} } = request;
  return conclude(await context.ports.postBinding({ namespace, name, uid, nodeName: node.name, annotations }));
}

async function bindDevice(binder: Binder, request: BindRequest, pod: PlacedPod): Promise<Attempt> {
  const { context, lanes, contract } = binder;
  const { namespace, name, uid, node } = request;
  const promised = await lanes.change(node, (ledger, closed) =>
    promiseDevice(context, contract, { pod, node, ledger, closed }),
  );
  if (promised.kind === "unavailable") return refuse("ledger", promised.reason);
  if (promised.value.kind !== "promised") return promised.value;
  const { claim, slot } = promised.value;
  const device = contract.annotations({ slot, request: claim.amount, assumeTime: claim.assumeTime });
  const outcome = await context.ports.postBinding({
    namespace,
    name,
    uid,
    resourceVersion: pod.resourceVersion,
    nodeName: node.name,
    annotations: { ...request.annotations, ...device },
  });
  if (outcome.kind === "gone") await release(binder, request);
  return conclude(outcome, claim);
}

/** Takes the pod's claim away: only for a pod that can never be bound to this node again. */
async function release({ lanes }: Binder, { node, uid }: BindRequest): Promise<void> {
  await lanes.change(node, (ledger) => ({ ...withoutClaims(ledger, { podUids: new Set([uid]) }), value: undefined }));
}

function conclude(outcome: BindingOutcome, claim?: Claim): Attempt {
  switch (outcome.kind) {
    case "bound":
      return { kind: "bound", byThis: true, ...(claim === undefined ? {} : { claim }) };
    case "conflict":
      return { kind: "conflict" };
    case "gone":
      return refuse("gone", "the Binding was answered 404");
    case "rejected":
      return refuse("rejected", `HTTP ${outcome.status}: ${outcome.message}`);
    case "unknown":
      return unknownAnswer(outcome.message, claim);
  }
}
