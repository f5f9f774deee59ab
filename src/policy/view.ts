import type * as z from "zod";
import type { JsonObject } from "../protocol/json.ts";

/** What a view looks at. */
export type Subject = "pod" | "node" | "fleet" | "cluster";

/** How quickly a fact changes: slow ones may be remembered and travel, fast ones are judged where they live. */
export type Pace = "slow" | "fast";

/**
 * One fact about a pod, a node, the fleet or the cluster, with the only way to read it.
 *
 * A view without `read` exists only where the cluster is watched: the host supplies it.
 */
export interface View<T> {
  /** Unique, camelCase; the fact's key on the wire. */
  readonly name: string;
  readonly of: Subject;
  readonly pace: Pace;
  /** One sentence for the generated documentation: what the fact is, with units. */
  readonly doc: string;
  /**
   * Every place of the object that `read` looks at: field names joined by dots, such as `metadata.labels`.
   * An object cut down to its paths reads the same. A path never leads into an array, and into a map of free keys only
   * by keys in brackets: `metadata.labels[kubernetes.io/arch]`.
   */
  readonly paths: readonly string[];
  /** What the fact looks like as JSON; facts that arrive over the network are checked with it. */
  readonly fact: z.ZodType<T>;
  /** Reads the fact. Pure: the time, in milliseconds since 1970, enters as an argument. */
  read?(object: JsonObject, now: number): T | Unreadable;
}

/** A field that is there but cannot be understood. A value, so that one bad object never stops the rest. */
export class Unreadable {
  /** Path of the field, such as `status.allocatable.memory`. */
  readonly field: string;
  /** What is wrong with it, in a few words that end an error sentence. */
  readonly problem: string;

  constructor(field: string, problem: string) {
    this.field = field;
    this.problem = problem;
  }

  toString(): string {
    return `${this.field}: ${this.problem}`;
  }
}

/** A fact that somebody else has to publish first, such as a node's devices. */
export type Known<T> = { readonly value: T } | { readonly unknown: "absent" | "unreadable" };

/** The views a plugin reads, by the names it gives them. */
export type Views = Readonly<Record<string, View<unknown>>>;

/** The facts of those views. */
export type Values<V> = { readonly [K in keyof V]: V[K] extends View<infer T> ? T : never };

/** How a host answers for one pod, one node or what is around them. */
export type Lookup = <T>(view: View<T>) => T | Unreadable;
