import type { Labels } from "./views/labels.ts";

/** A row that speaks about every node that has all of these labels. */
export interface Matching {
  readonly match: Labels;
}

interface Group<R> {
  readonly keys: readonly string[];
  readonly rows: Map<string, { readonly row: R; readonly position: number }>;
}

/**
 * Rows found by a node's labels, in time that grows with the number of different key sets, not with the rows.
 *
 * The row with the most labels wins; of several with equally many, the one that stands first. A class only because
 * the index has to stay out of comparison and JSON: a table is its rows.
 */
export class MatchTable<R extends Matching> {
  readonly rows: readonly R[];
  /** Every label key that some row looks at, sorted: a node's other labels change nothing. */
  readonly labelKeys: readonly string[];
  /** Most keys first. */
  readonly #groups: readonly Group<R>[];

  constructor(rows: readonly R[]) {
    this.rows = rows;
    this.#groups = groupByKeys(rows);
    this.labelKeys = [...new Set(this.#groups.flatMap(({ keys }) => keys))].sort();
  }

  /** The row that speaks about a node with these labels, if any does. */
  find(labels: Labels): R | undefined {
    let best: { readonly row: R; readonly position: number } | undefined;
    let size = 0;
    for (const { keys, rows } of this.#groups) {
      if (best && keys.length < size) break;
      const found = rows.get(valuesId(keys, labels));
      if (found && (!best || found.position < best.position)) best = found;
      size = keys.length;
    }
    return best?.row;
  }

  toJSON(): readonly R[] {
    return this.rows;
  }
}

function groupByKeys<R extends Matching>(rows: readonly R[]): Group<R>[] {
  const groups = new Map<string, Group<R>>();
  for (const [position, row] of rows.entries()) {
    const keys = Object.keys(row.match).sort();
    const id = JSON.stringify(keys);
    const group = groups.get(id) ?? { keys, rows: new Map() };
    groups.set(id, group);
    const values = valuesId(keys, row.match);
    if (!group.rows.has(values)) group.rows.set(values, { row, position });
  }
  return [...groups.values()].sort((left, right) => right.keys.length - left.keys.length);
}

/** Tells the labels' values apart, also from a label that is not there. */
function valuesId(keys: readonly string[], labels: Labels): string {
  return JSON.stringify(keys.map((key) => labels[key]));
}
