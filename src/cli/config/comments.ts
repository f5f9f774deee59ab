import { type Document, isScalar, type Pair } from "yaml";
import type { Line } from "./plan.ts";

const WIDTH = 100;

/** A pair for a line of a plan, with its reason as a comment above it. */
export function pairOf(document: Document, { key, value, why }: Line): Pair {
  const pair = document.createPair(key, value);
  if (why !== undefined && isScalar(pair.key)) pair.key.commentBefore = comment(why);
  return pair;
}

/** A text as lines of a comment, without the marks. */
export function comment(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > WIDTH) lines.push(` ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join("\n");
}
