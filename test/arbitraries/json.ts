import fc from "fast-check";

/** Arbitrary JSON as text, so that one value comes in many spellings. */
export type JsonText = fc.Arbitrary<string>;

const space = fc.constantFrom("", "", "", "", " ", "\n", "\r\n\t ");
const escaped = fc.constantFrom(
  '\\"',
  "\\\\",
  "\\/",
  "\\n",
  "\\u0041",
  "\\ud83d\\ude00",
  "\\ud800",
  "\\udc00",
  "\\u0000",
);
const character = fc.constantFrom(..."ab/{}[]:, é漢", "name", "😀", "\ud800", "\u2028", "\u007f");

/** A string literal: structural characters, characters beyond ASCII, escapes, lone surrogates. */
export const jsonString: JsonText = fc
  .array(fc.oneof(character, character, escaped), { maxLength: 12 })
  .map((units) => `"${units.join("")}"`);

/** Numbers of every spelling. */
export const jsonNumber: JsonText = fc.constantFrom(
  ...["0", "-0", "7", "1.50", "1e3", "1E+2", "-2.5e-7", "1e400", "9007199254740993", "0.1"],
);

/** A string, a number, true, false or null. */
export const jsonScalar: JsonText = fc.oneof(jsonString, jsonNumber, fc.constantFrom("null", "true", "false"));

/** The key as a literal, now and then with some of its characters as escapes. */
export function spelled(key: string): JsonText {
  const dice = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: key.length, maxLength: key.length });
  const asEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return fc.oneof(
    fc.constant(`"${key}"`),
    dice.map((thrown) => `"${[...key].map((unit, i) => (thrown[i] === 0 ? asEscape(unit) : unit)).join("")}"`),
  );
}

/** A member of an object. */
export function member(key: JsonText, value: JsonText): JsonText {
  return fc.tuple(space, key, space, space, value, space).map(([a, k, b, c, v, d]) => `${a}${k}${b}:${c}${v}${d}`);
}

/** An object of these members. */
export function jsonObject(members: fc.Arbitrary<string[]>): JsonText {
  return fc.tuple(members, space).map(([all, inside]) => `{${all.join(",") || inside}}`);
}

/** An array of such items. */
export function jsonArray(items: JsonText, maxLength = 4): JsonText {
  return fc
    .array(fc.tuple(space, items, space), { maxLength })
    .map((all) => `[${all.map((each) => each.join("")).join(",")}]`);
}

/** Any key, often one that nodes have or that prototypes have. */
export const someKey: JsonText = fc.oneof(
  jsonString,
  fc
    .constantFrom("metadata", "spec", "status", "labels", "name", "taints", "allocatable", "__proto__", "constructor")
    .chain(spelled),
);

/** Any value. */
export const jsonValue: JsonText = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    jsonScalar,
    jsonObject(fc.array(member(someKey, tie("value")), { maxLength: 4 })),
    jsonArray(tie("value")),
  ),
})).value;

/**
 * An object with `always` and some of `perhaps`, in any order, among members that nobody expects; members may come
 * twice.
 */
export function objectWith(always: readonly JsonText[], perhaps: readonly JsonText[]): JsonText {
  const more = fc.array(fc.oneof(...always, ...perhaps, member(someKey, jsonValue)), { maxLength: 3 });
  const members = fc
    .tuple(
      fc.tuple(...always),
      fc.subarray([...perhaps]).chain((some) => fc.tuple(...some)),
      more,
    )
    .chain(([first, some, others]) => {
      const all = [...first, ...some, ...others];
      return fc.shuffledSubarray(all, { minLength: all.length });
    });
  return jsonObject(members);
}
