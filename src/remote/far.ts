import { columnsOf, type Policy } from "../policy/policy.ts";
import { Unreadable, type View } from "../policy/view.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Asker } from "./asker.ts";
import { type NodeClass, nodeClasses, readFacts } from "./classes.ts";
import { classView, type Judging, judging } from "./far-judge.ts";
import { askFor, missing } from "./flights.ts";
import { createRows } from "./rows.ts";
import { isStandIn, type StandIn } from "./stand-in.ts";

/** Hears how often rows were remembered; see docs/metrics.md. */
export interface FarMetrics {
  /** Rows that a decision used, by whether they were there already. */
  rows(remembered: number, asked: number): void;
  /** A decision begins or ends to wait for the function. */
  waiting(change: 1 | -1): void;
}

/** What far plugins need. */
export interface FarOptions {
  readonly policy: Policy;
  readonly asker: Asker;
  readonly metrics: FarMetrics;
  /** A node was refused because the function is away: its pod will want to be woken. */
  rejected(): void;
}

/** The plugins of one version of a policy whose code only the function has. */
export interface Far {
  /**
   * The policy with the rows for this pod on these nodes in place of the code it lacks. Waits for rows that have to be
   * asked for, no longer than the asker's deadline; without them each plugin does what its `whenAway` says. Where the
   * function cannot judge the pod, because a plugin throws there, the plugin throws here too.
   *
   * Whoever decides by it has to read the nodes again afterwards: a row belongs to the facts a node has at that moment.
   *
   * @param nodes gives the nodes as they are when it is called; objects that are never changed
   */
  withRows(pod: JsonObject, nodes: () => readonly JsonObject[]): Promise<Policy>;
  /** Asks for a pod that is not decided yet, so that its rows are there when it is. */
  ahead(pod: JsonObject, nodes: readonly JsonObject[]): Promise<void>;
  /** True once a pod was decided by it. */
  isUsed(): boolean;
}

/** Undefined for a policy whose plugins are all here. */
export function createFar(options: FarOptions): Far | undefined {
  const { policy } = options;
  const plugins = policy.plugins.filter(isStandIn);
  if (plugins.length === 0) return undefined;
  const classes = nodeClasses(viewsOf(plugins, "node"));
  const scene: Scene = {
    ...options,
    asked: {
      profile: policy.profile,
      version: policy.version,
      plugins: plugins.map(({ spec }) => spec.name),
      columns: columnsOf({ ...policy, plugins }),
    },
    podViews: viewsOf(plugins, "pod"),
    rows: createRows(),
    classes: (nodes) => {
      const found = new Set<NodeClass>();
      for (const node of nodes) found.add(classes.of(node));
      return found;
    },
    classView: classView(classes),
  };
  let used = false;
  // The same list is given again and again.
  const classesOf = new WeakMap<readonly JsonObject[], ReadonlySet<NodeClass>>();
  return {
    withRows: (pod, nodes) => {
      used = true;
      return withRows(scene, pod, nodes);
    },
    isUsed: () => used,
    ahead: async (pod, nodes) => {
      if (isUnreadable(scene, pod)) return;
      const { facts, text } = readFacts(scene.podViews, pod);
      const rows = scene.rows.of(text);
      const known = classesOf.get(nodes) ?? scene.classes(nodes);
      classesOf.set(nodes, known);
      const lacking = missing(rows, known);
      const until = scene.asker.elapsed() + scene.asker.deadline;
      if (lacking.length > 0 && !scene.asker.isAway()) await askFor(scene, { facts, rows, until }, lacking);
    },
  };
}

interface Scene extends FarOptions, Judging {
  readonly podViews: readonly View<unknown>[];
  readonly rows: ReturnType<typeof createRows>;
  /** The classes of nodes, each once. */
  classes(nodes: Iterable<JsonObject>): ReadonlySet<NodeClass>;
}

/** Such a pod is not judged at all, and the function could not either. */
function isUnreadable({ podViews }: Scene, pod: JsonObject): boolean {
  return podViews.some((view) => view.read?.(pod, 0) instanceof Unreadable);
}

/** Nodes may change while rows are asked for; a node that changes again and again is decided like one without a row. */
const ROUNDS = 4;

async function withRows(scene: Scene, pod: JsonObject, nodes: () => readonly JsonObject[]): Promise<Policy> {
  if (isUnreadable(scene, pod)) return scene.policy;
  const { asker, metrics } = scene;
  const { facts, text } = readFacts(scene.podViews, pod);
  const rows = scene.rows.of(text);
  const classes = scene.classes(nodes());
  let lacking = missing(rows, classes);
  metrics.rows(classes.size - lacking.length, lacking.length);
  const until = asker.elapsed() + asker.deadline;
  for (let round = 0; round < ROUNDS && lacking.length > 0 && !asker.isAway(); round++) {
    metrics.waiting(1);
    const { refused, again } = await askFor(scene, { facts, rows, until }, lacking);
    metrics.waiting(-1);
    lacking = missing(rows, scene.classes(nodes()));
    if (refused !== undefined) return judging(scene, { rows, incomplete: true, refused });
    if (!again) break;
  }
  return judging(scene, { rows, incomplete: lacking.length > 0 });
}

function viewsOf(plugins: readonly StandIn[], of: "pod" | "node"): View<unknown>[] {
  const views = plugins.flatMap((plugin) => Object.values(plugin.views[of]));
  return [...new Map(views.map((view) => [view.name, view])).values()];
}
