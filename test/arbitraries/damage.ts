import fc from "fast-check";

const encoder = new TextEncoder();

/** A place in the body as a fraction, what happens there, and the byte for it. */
export const mutation = fc.tuple(
  fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  fc.constantFrom("replace", "insert", "delete", "cut"),
  fc.oneof(
    fc.constantFrom(...encoder.encode('"\\{}[]:, \n0en'), 0, 0x80, 0xc3, 0xff),
    fc.integer({ min: 0, max: 255 }),
  ),
);

/** The body with that damage. */
export function mutate(body: Uint8Array, [fraction, kind, byte]: readonly [number, string, number]): Uint8Array {
  const at = Math.floor(fraction * body.length);
  if (kind === "cut") return body.slice(0, at);
  const rest = body.subarray(kind === "insert" ? at : at + 1);
  return Uint8Array.from([...body.subarray(0, at), ...(kind === "delete" ? [] : [byte]), ...rest]);
}
