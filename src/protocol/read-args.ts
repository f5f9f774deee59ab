import type { ExtenderArgs, Retain } from "./args.ts";
import type { PathTree } from "./paths.ts";
import { rawKeeper } from "./raw.ts";
import { cursorOn } from "./scan.ts";
import { walkArgs } from "./walk.ts";
import { type Pieces, type WindowOptions, walkPieces } from "./window.ts";

/** How a body that arrives in pieces is read. */
export interface ArgsReading extends WindowOptions {
  readonly wanted: PathTree;
  readonly retain: Retain;
}

/**
 * Reads the body of a filter or prioritize call, parsing of each node only what is wanted.
 *
 * Go writes the outer keys without JSON tags (`Pod`, `Nodes`, `NodeNames`), older tools in lower camel case: they
 * count in any casing. An explicit null is an absent part, of a repeated key the last counts, a leading byte order
 * mark is passed over. Inside Pod and nodes keys are exact. Values that nobody wants are not checked beyond their
 * brackets and quotes.
 *
 * @returns the arguments; the nodes' bytes are views of the body
 * @throws {ShapeError} and nothing else, when the body is not JSON, or not ExtenderArgs.
 */
export function readArgs(body: Uint8Array, wanted: PathTree): ExtenderArgs {
  const walk = walkArgs(cursorOn(body), { wanted, retain: () => () => true, keepRaw: (bytes) => bytes });
  // Nothing more can come, so the walk never waits.
  return walk.next().value as ExtenderArgs;
}

/**
 * Reads the same from pieces, as they arrive, with the same result and the same errors. Of the body it holds what is
 * wanted of each node, copies of the bytes that are to be kept, and a piece or two.
 */
export function argsInPieces({ wanted, retain, ...window }: ArgsReading): Pieces<ExtenderArgs> {
  return walkPieces((cursor) => walkArgs(cursor, { wanted, retain, keepRaw: rawKeeper() }), window);
}
