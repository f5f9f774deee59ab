import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { nodeSkims } from "../../src/adapters/node-skims.ts";
import type { ExtenderArgs, RequestNode } from "../../src/protocol/args.ts";
import type { Json } from "../../src/protocol/json.ts";
import type { PathTree } from "../../src/protocol/paths.ts";
import { argsInPieces, readArgs } from "../../src/protocol/read-args.ts";
import { ShapeError } from "../../src/protocol/scan.ts";
import type { WindowOptions } from "../../src/protocol/window.ts";
import { mutate, mutation } from "../arbitraries/damage.ts";
import { type OuterMember, outerMembers, wantedTree } from "../arbitraries/extenderargs.ts";
import { expected, plain } from "./oracle.ts";

/** A request as it arrives, and what is wanted of it. */
export interface Arriving {
  readonly members: readonly OuterMember[];
  readonly damages: readonly Parameters<typeof mutate>[1][];
  readonly mark: boolean;
  readonly wanted: PathTree;
  /** Bytes of the pieces, over and over. */
  readonly pieces: readonly number[];
  /** The length that its sender promises; lies are allowed, and make the window small. */
  readonly length: number;
}

/**
 * Requests of any spelling: members in any order and casing, some twice or of another type, escapes, surrogates, white
 * space, nesting; some damaged; cut anywhere.
 */
export const arriving: fc.Arbitrary<Arriving> = fc.record({
  members: outerMembers,
  damages: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(mutation, { minLength: 1, maxLength: 3 })),
  mark: fc.boolean(),
  wanted: wantedTree,
  pieces: fc.array(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 200 })), {
    minLength: 1,
    maxLength: 8,
  }),
  length: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 500 })),
});

/** How a request came out. */
export type Outcome = "nodes" | "names" | "refused";

/**
 * Reads a request whole, in pieces without and with the help of WebAssembly, and with JSON.parse.
 *
 * @throws {Error} when they do not agree: in the arguments, in the nodes' bytes, or in the words of the refusal
 */
export function checkRequest(request: Arriving): Outcome {
  const body = bodyOf(request);
  const whole = attempt(() => readArgs(body, request.wanted));
  compare(
    whole,
    attempt(() => readPieces(body, request)),
    "in pieces",
  );
  compare(
    whole,
    attempt(() => readPieces(body, { ...request, skims })),
    "in pieces, skimmed",
  );
  const args = typeof whole === "string" ? undefined : whole;
  if (request.damages.length === 0)
    agree(expected(partsOf(request.members), request.wanted), plain(args), "read whole");
  return args?.form ?? "refused";
}

function compare(whole: ExtenderArgs | string, other: ExtenderArgs | string, how: string): void {
  if (typeof whole === "string" || typeof other === "string") {
    if (whole !== other) throw new Error(`whole: ${told(whole)}\n${how}: ${told(other)}`);
    return;
  }
  agree(plain(whole), plain(other), how);
  compareBytes(whole.nodes, other.nodes);
}

const skims = nodeSkims();

const encoder = new TextEncoder();

/** As text that travels in UTF-8 arrives: a lone surrogate written raw is lost on the way. */
const parseText = (text: string): Json => JSON.parse(new TextDecoder().decode(encoder.encode(text)));

function bodyOf({ members, damages, mark }: Arriving): Uint8Array {
  const text = encoder.encode(`${mark ? "\ufeff" : ""}{${members.map((member) => member.text).join(" ,")}}`);
  return damages.reduce(mutate, text);
}

/** The last of each part. */
function partsOf(members: readonly OuterMember[]): Record<string, Json> {
  return Object.fromEntries(members.map(({ key, value }) => [key, parseText(value)]));
}

/** Which nodes' bytes are kept here. */
const keeps = ({ name }: RequestNode) => name.length % 2 === 0;

function readPieces(body: Uint8Array, { wanted, pieces, length, skims }: Arriving & WindowOptions): ExtenderArgs {
  const reading = argsInPieces({ wanted, length, skims, retain: () => keeps });
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const piece = body.slice(at, at + (pieces[turn % pieces.length] ?? 1));
    at += piece.length;
    reading.push(piece);
    // The bytes may be used again afterwards.
    piece.fill(0x22);
  }
  return reading.end();
}

/** The arguments, or the words of the refusal. */
function attempt(read: () => ExtenderArgs): ExtenderArgs | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof ShapeError) return error.message;
    throw error;
  }
}

const told = (outcome: ExtenderArgs | string) => (typeof outcome === "string" ? outcome : "read");

function agree(one: unknown, other: unknown, how: string): void {
  if (isDeepStrictEqual(one, other)) return;
  throw new Error(`${how} otherwise:\n${JSON.stringify(one)}\n${JSON.stringify(other)}`);
}

function compareBytes(all: readonly RequestNode[], kept: readonly RequestNode[]): void {
  for (const [index, { name, raw }] of kept.entries()) {
    const original = all[index]?.raw;
    const own = original && keeps({ name, object: {} }) ? Buffer.from(original) : undefined;
    agree(own?.toString("latin1"), raw && Buffer.from(raw).toString("latin1"), `the bytes of ${name} were kept`);
  }
}
