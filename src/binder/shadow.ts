import type { Decision, DecisionVerb, Undecided } from "../extender/decider.ts";
import { factToJson } from "../policy/fact-json.ts";
import type { Log } from "../policy/log.ts";
import { objectLookup } from "../policy/lookup.ts";
import { type Finding, prepare } from "../policy/run.ts";
import type { ExtenderArgs } from "../protocol/args.ts";
import { field, type Json } from "../protocol/json.ts";
import { isStandIn } from "../remote/stand-in.ts";
import { decideLive } from "./decider.ts";
import { type LivePolicy, liveNode, nameOf, policyFor } from "./live.ts";
import { compare, type Difference } from "./shadow-compare.ts";
import type { ShadowMetrics, ShadowOutcome } from "./shadow-metrics.ts";

/** One difference, with what both policies saw. */
export interface ShadowDifference {
  /** RFC 3339. */
  readonly at: string;
  /** `<namespace>/<name>` */
  readonly pod: string;
  readonly verb: DecisionVerb;
  /** `<profile>@<version>` of the policy in force and of the one in its shadow. */
  readonly policy: string;
  readonly shadow: string;
  readonly kind: Difference["kind"];
  readonly plugins: readonly string[];
  /** How many nodes were asked about. */
  readonly nodes: number;
  /** A few of the nodes, as both explain them. */
  readonly shown: readonly { readonly node: string; readonly policy: Json; readonly shadow: Json }[];
}

/** Decides by another policy for the same pods, where nobody waits for it. */
export interface Shadow {
  /** A request was answered. */
  saw(live: LivePolicy, verb: DecisionVerb, args: Asked, decision: Decision | Undecided): void;
  /** The last differences, the newest first. */
  differences(): readonly ShadowDifference[];
  stop(): Promise<void>;
}

type Asked = Pick<ExtenderArgs, "pod" | "nodes">;

/** What a shadow needs. */
export interface ShadowOptions {
  /** The policy in the shadow of a profile, if it has one and it is there. */
  of(profile: string): LivePolicy | undefined;
  readonly metrics: ShadowMetrics;
  readonly log: Log;
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number;
}

const KEPT = 100;
const WAITING = 100;
const SHOWN = 3;

/** A shadow takes a fiftieth of the time at most: for each millisecond of work it rests for fifty. */
const REST = 50;

interface Work {
  readonly live: LivePolicy;
  readonly verb: DecisionVerb;
  readonly args: Asked;
}

export function createShadow(options: ShadowOptions): Shadow {
  const { metrics, log, elapsed } = options;
  const waiting: Work[] = [];
  const kept: ShadowDifference[] = [];
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const turn = async (): Promise<void> => {
    const work = waiting.shift();
    if (work === undefined) return rest(undefined);
    const started = elapsed();
    try {
      const found = await look(options, work);
      kept.unshift(...found);
      kept.splice(KEPT);
    } catch (error) {
      metrics.decided(work.live.policy.profile, "failed");
      log("warn", "a shadow could not decide", { policy: nameOf(work.live), error: String(error) });
    }
    rest((elapsed() - started) * REST);
  };
  const rest = (ms: number | undefined): void => {
    timer = ms === undefined || stopped ? undefined : setTimeout(() => void turn(), ms);
    timer?.unref();
  };
  return {
    saw(live, verb, args, decision) {
      if ("error" in decision || options.of(live.policy.profile) === undefined) return;
      if (waiting.length >= WAITING) return metrics.decided(live.policy.profile, "skipped");
      waiting.push({ live, verb, args });
      if (timer === undefined) rest(0);
    },
    differences: () => [...kept],
    async stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Both decide now, on the same state: what has changed since the answer is no difference between policies. */
async function look(options: ShadowOptions, work: Work): Promise<readonly ShadowDifference[]> {
  const { live, verb, args } = work;
  const { profile } = live.policy;
  const shadow = options.of(profile);
  if (shadow === undefined) return [];
  const others = await decideLive(shadow, verb, args);
  const own = await decideLive(live, verb, args);
  const tell = (outcome: ShadowOutcome) => options.metrics.decided(profile, outcome);
  if ("error" in own || "error" in others) {
    tell("failed");
    return [];
  }
  const differences = compare(own, others);
  tell(differences.length === 0 ? "same" : "differs");
  for (const { kind, plugins } of differences) {
    for (const plugin of plugins) options.metrics.differs(profile, kind, plugin);
  }
  return Promise.all(differences.map((difference) => describe(work, shadow, difference)));
}

async function describe({ live, verb, args }: Work, shadow: LivePolicy, difference: Difference) {
  const { kind, plugins } = difference;
  const nodes = difference.nodes.slice(0, SHOWN).map((index) => args.nodes[index]?.name ?? "");
  const [ours, theirs] = [await explain(live, args, nodes), await explain(shadow, args, nodes)];
  const metadata = field(args.pod, "metadata");
  return {
    at: new Date(live.now()).toISOString(),
    pod: `${field(metadata, "namespace")}/${field(metadata, "name")}`,
    verb,
    policy: nameOf(live),
    shadow: nameOf(shadow),
    kind,
    plugins,
    nodes: args.nodes.length,
    shown: nodes.map((node, index) => ({ node, policy: ours[index] ?? null, shadow: theirs[index] ?? null })),
  };
}

/** What every plugin saw and thought of some nodes. */
async function explain(live: LivePolicy, { pod }: Asked, names: readonly string[]): Promise<readonly Json[]> {
  const look = () => names.map((name) => live.state.nodes.get(name));
  const judged = await policyFor(live, pod, look);
  const nodes = look().flatMap((node) => (node ? [liveNode(live, node, {})] : []));
  // Rows of the function from the one, facts of the nodes from the other.
  const plugins = live.policy.plugins.map((plugin, index) => (isStandIn(plugin) ? judged.plugins[index] : plugin));
  const policy = { ...live.policy, plugins: plugins.filter((plugin) => plugin !== undefined) };
  const cycle = prepare(policy, objectLookup(pod, live.now()), live.around);
  if ("unreadable" in cycle || nodes.length < names.length) return [];
  return cycle.explain(nodes).map((findings) => factToJson(findings satisfies readonly Finding[]));
}
