import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../protocol/json.ts";
import type { Asker } from "./asker.ts";
import type { NodeClass } from "./classes.ts";
import type { Asked } from "./question.ts";
import type { FarRow, PodRows, Refused } from "./rows.ts";

/** Who is asked, and about which plugins. */
export interface AskedFor {
  readonly asker: Asker;
  readonly asked: Asked;
}

/** A pod by what is read of it. */
export interface PodAsked {
  readonly facts: JsonObject;
  readonly rows: PodRows;
  /** When nobody waits any more, by the asker's clock. */
  readonly until: number;
}

/** What has become of asking. */
export interface Landed {
  /** Why the function cannot judge the pod on the nodes that were asked about. */
  readonly refused?: string;
  /** False when asking once more would be in vain. */
  readonly again: boolean;
}

/** So many classes in one question. */
const MOST_IN_A_QUESTION = 1_000;

/** The classes whose rows are not there, each once. */
export function missing(rows: PodRows, classes: Iterable<NodeClass>): NodeClass[] {
  return [...classes].filter((each) => rows.get(each) === undefined);
}

/** Asks for rows. One question for all who want the same: what is being asked already is waited for. */
export async function askFor(scene: AskedFor, pod: PodAsked, classes: readonly NodeClass[]): Promise<Landed> {
  const { rows, until } = pod;
  const joined = new Set(classes.flatMap((each) => rows.flights.get(each) ?? []));
  const fresh = classes.filter((each) => !rows.flights.has(each));
  const own: Promise<Refused | undefined>[] = [];
  for (let from = 0; from < fresh.length; from += MOST_IN_A_QUESTION) {
    own.push(takeOff(scene, pod, fresh.slice(from, from + MOST_IN_A_QUESTION)));
  }
  const landed = await inTime(Promise.all([...own, ...joined]), until - scene.asker.elapsed());
  const refused = landed?.slice(0, own.length).find((each) => each !== undefined);
  // A question of somebody else may have been refused for a node that is not asked about here.
  const others = landed?.slice(own.length).some((each) => each !== undefined) === true;
  return { ...refused, again: others || missing(rows, classes).length === 0 };
}

function takeOff({ asker, asked }: AskedFor, { facts, rows, until }: PodAsked, classes: readonly NodeClass[]) {
  const nodes = classes.map((each) => each.facts);
  const flight = asker.ask(asked, facts, nodes, until).then((answered): Refused | undefined => {
    const refused = answered !== undefined && "refused" in answered ? answered : undefined;
    const found = refused ? undefined : (answered as readonly FarRow[] | undefined);
    for (const [index, nodeClass] of classes.entries()) {
      const row = found?.[index];
      if (row) rows.put(nodeClass, row);
      rows.flights.delete(nodeClass);
    }
    return refused;
  });
  for (const nodeClass of classes) rows.flights.set(nodeClass, flight);
  return flight;
}

/** Undefined when it takes longer than so many milliseconds: a question of somebody else may have begun late. */
async function inTime<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const over = new AbortController();
  try {
    return await Promise.race([work, sleep(Math.max(0, ms), undefined, { signal: over.signal, ref: false })]);
  } finally {
    over.abort();
  }
}
