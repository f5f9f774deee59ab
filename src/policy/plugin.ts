import type * as z from "zod";
import type { FleetFacts } from "./facts.ts";
import type { Values, Views } from "./view.ts";

/**
 * How raw scores of one pod become 0…100, as data, so that a relay can rank rows of plugins whose code it lacks.
 *
 * - `none`: raw is 0…100 already
 * - `max`: the highest raw score becomes 100, zero stays zero; in whole numbers, as kube-scheduler's plugins have it
 * - `max-reversed`: as `max`, then turned round
 * - `range`: the lowest becomes 0, the highest 100
 * - `range-reversed`: the lowest becomes 100, the highest 0
 * - `list`: the plugin compared the nodes itself and its raw scores are final
 */
export type Scale = "none" | "max" | "max-reversed" | "range" | "range-reversed" | "list";

/** How far a plugin may be trusted to stay as it is. */
export type Maturity = "alpha" | "beta" | "stable";

/** Why a plugin refuses a node. */
export interface Rejection {
  /**
   * One constant sentence for a plugin and cause. It may name the pod's numbers, never a node's name or state:
   * a reason that varies makes kube-scheduler retry the pod in a hot loop.
   */
  readonly reason: string;
  /**
   * Every reason, {@link reason} among them, where there are several at once, such as cpu and memory: a scheduler
   * counts each. An extender's answer has room for one.
   */
  readonly reasons?: readonly string[];
  /** True when evicting pods from the node cannot help. */
  readonly unresolvable: boolean;
}

/** A raw score, or undefined where the facts do not tell: such a node is scaled lowest. */
export type RawScore = number | undefined;

/** What a plugin thinks of nodes for one pod. */
export interface Judge<N> {
  filter?(node: N): Rejection | undefined;
  score?(node: N): RawScore;
  scoreAll?(nodes: readonly N[]): readonly RawScore[];
}

/** A plugin: one file, registered by one line. It reads only what it declares, and nothing else reaches it. */
export interface PluginSpec<A = unknown, P extends Views = Views, N extends Views = Views, W extends Views = Views> {
  /** UpperCamelCase, as kube-scheduler names its plugins. */
  readonly name: string;
  /** Changes whenever the same facts could be judged differently: hosts that share a version agree. */
  readonly version: number;
  /** One paragraph: what it does and when to use it. The source of every list of plugins. */
  readonly doc: string;
  readonly maturity: Maturity;
  readonly args: z.ZodType<A>;
  /** Present exactly when the plugin scores. */
  readonly scale?: Scale;
  /**
   * The views it reads of the pod, of each node and around them (fleet, cluster). The facts of the fleet are there to
   * narrow a view to the keys that they name.
   */
  reads(args: A, facts: FleetFacts): { readonly pod?: P; readonly node?: N; readonly around?: W };
  /** Called once per pod. */
  prepare(args: A, pod: Values<P>, around: Values<W>): Judge<Values<N>>;
}

/** A plugin of any argument and view types, as the registry holds it. */
// biome-ignore lint/suspicious/noExplicitAny: the types of one plugin are checked where it is defined
export type AnyPlugin = PluginSpec<any, any, any, any>;

/** What a plugin that declares no views of a kind is given of it: nothing. */
type NoViews = Readonly<Record<never, never>>;

/** Checks a plugin's types against each other. */
export function definePlugin<A, P extends Views = NoViews, N extends Views = NoViews, W extends Views = NoViews>(
  spec: PluginSpec<A, P, N, W>,
): PluginSpec<A, P, N, W> {
  return spec;
}
