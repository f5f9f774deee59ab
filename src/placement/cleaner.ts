import { withoutClaims } from "./claims.ts";
import type { Lanes } from "./lanes.ts";
import type { LedgerNode } from "./ledger.ts";
import type { ProtocolContext } from "./ledger-store.ts";
import type { Claim, Ledger, PlacedPod } from "./model.ts";
import { judgeClaim, type Verdict } from "./revoke.ts";
import { standing } from "./standing.ts";

/** How long a claim may wait for its pod to be bound, in milliseconds since it was made. */
export const GRACE_TIME = 30_000;

/** How many nodes are cleaned at the same time. */
const NODES_AT_ONCE = 8;

/** A node and its ledger as last seen, which may be out of date. */
export interface LedgerView {
  readonly node: LedgerNode;
  readonly ledger: Ledger;
}

/** What the cleaner works with. */
export interface CleanerOptions {
  readonly context: ProtocolContext;
  readonly lanes: Lanes;
  /** The pod of this UID as an informer has shown it. It spares reads; nothing is taken away on its word. */
  seen(podUid: string): PlacedPod | undefined;
  /** In milliseconds; {@link GRACE_TIME} when absent. */
  readonly graceTime?: number;
}

/** What a tick did. */
export interface CleaningReport {
  /** Claims taken away whose pod is gone, terminal, another one, or bound elsewhere. */
  readonly ended: number;
  /** Claims taken away because their pod was not bound within the grace time. */
  readonly revoked: number;
  /** Nodes that can take more than before: pods that wait may be woken. */
  readonly freed: readonly string[];
  /** What could not be done now, one sentence each; the next tick tries again. */
  readonly problems: readonly string[];
}

/** The loop that takes claims away; its owner calls it every few seconds while it leads. */
export interface Cleaner {
  /**
   * Looks at each claim once; to be called with some ledgers at once when pods of their nodes have ended. A claim whose pod is bound to the node stays: it holds the device for every binder whose
   * view of the pods is late. No clock can make a device be given twice: revoking a claim too early costs a Binding
   * that is refused and tried again.
   */
  tick(views: readonly LedgerView[]): Promise<CleaningReport>;
}

export function createCleaner(options: CleanerOptions): Cleaner {
  const overdue = createWatch(options);
  return {
    async tick(views) {
      const reports: CleaningReport[] = [];
      const waiting = views.values();
      const work = async () => {
        for (const view of waiting) reports.push(await cleanNode(options, view, overdue(view)));
      };
      await Promise.all(Array.from({ length: NODES_AT_ONCE }, work));
      return {
        ended: reports.reduce((sum, report) => sum + report.ended, 0),
        revoked: reports.reduce((sum, report) => sum + report.revoked, 0),
        freed: reports.flatMap(({ freed }) => freed),
        problems: reports.flatMap(({ problems }) => problems),
      };
    },
  };
}

/**
 * Tells which claims of a ledger are overdue: by the wall clock, or because this process has seen them for as long by
 * the clock that never jumps.
 */
function createWatch({ context: { clock }, graceTime = GRACE_TIME }: CleanerOptions) {
  const firstSeen = new Map<string, ReadonlyMap<string, number>>();
  return ({ ledger }: LedgerView): ReadonlySet<string> => {
    const before = firstSeen.get(ledger.nodeName);
    const since = new Map(ledger.claims.map(({ id }) => [id, before?.get(id) ?? clock.elapsed()]));
    if (since.size === 0) firstSeen.delete(ledger.nodeName);
    else firstSeen.set(ledger.nodeName, since);
    const late = ({ id, claimedAt }: Claim) =>
      clock.now() - claimedAt >= graceTime || clock.elapsed() - (since.get(id) ?? 0) >= graceTime;
    return new Set(ledger.claims.filter(late).map(({ id }) => id));
  };
}

async function cleanNode(
  options: CleanerOptions,
  view: LedgerView,
  overdue: ReadonlySet<string>,
): Promise<CleaningReport> {
  const { claims, closedUntil } = view.ledger;
  const ended = new Set<string>();
  const revoked = new Set<string>();
  const problems: string[] = [];
  for (const claim of claims) {
    const verdict = await cleanClaim(options, view, { claim, overdue: overdue.has(claim.id) });
    if (verdict.kind === "ended") ended.add(claim.podUid);
    if (verdict.kind === "revoked") revoked.add(claim.id);
    if (verdict.kind === "problem") problems.push(verdict.problem);
  }
  const nothing = { ended: 0, revoked: 0, freed: [], problems };
  if (ended.size + revoked.size === 0 && closedUntil === 0) return nothing;
  const taken = await options.lanes.change(view.node, (ledger, closed) => {
    const { removed, ...without } = withoutClaims(ledger, { podUids: ended, claimIds: revoked });
    return { ...without, value: { removed, opened: closedUntil !== 0 && !closed } };
  });
  if (taken.kind === "unavailable") return { ...nothing, problems: [...problems, taken.reason] };
  const { removed, opened } = taken.value;
  return {
    ended: removed.filter(({ podUid }) => ended.has(podUid)).length,
    revoked: removed.filter(({ podUid }) => !ended.has(podUid)).length,
    freed: removed.length > 0 || opened ? [view.node.name] : [],
    problems,
  };
}

/** Nothing is asked of the API server while the informer shows all as it should be. */
async function cleanClaim(
  { context, seen }: CleanerOptions,
  { node }: LedgerView,
  { claim, overdue }: { readonly claim: Claim; readonly overdue: boolean },
): Promise<Verdict> {
  const pod = seen(claim.podUid);
  const stands = pod === undefined ? "over" : standing(pod, claim.podUid, node.name);
  if (stands === "here" || (stands === "open" && !overdue)) return { kind: "stays" };
  return judgeClaim(context, { nodeName: node.name, claim }, overdue);
}
