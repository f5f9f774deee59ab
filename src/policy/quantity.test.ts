import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseQuantity, quantityProblem, toMilli, toUnits } from "./quantity.ts";

const INT64_MAX = 2n ** 63n - 1n;

/** An exact rational number, which is all that a quantity's text says; the denominator is positive. */
type Rational = readonly [numerator: bigint, denominator: bigint];

/** Rounds a rational away from zero and caps it at 64 bits. */
function rounded([numerator, denominator]: Rational): bigint {
  const negative = numerator < 0n;
  const size = negative ? -numerator : numerator;
  const up = (size + denominator - 1n) / denominator;
  const kept = up > INT64_MAX ? INT64_MAX : up;
  return negative ? -kept : kept;
}

const suffixes: readonly (readonly [text: string, factor: Rational])[] = [
  ["", [1n, 1n]],
  ["n", [1n, 1_000_000_000n]],
  ["u", [1n, 1_000_000n]],
  ["m", [1n, 1000n]],
  ["k", [1000n, 1n]],
  ["M", [1_000_000n, 1n]],
  ["G", [1_000_000_000n, 1n]],
  ["T", [1_000_000_000_000n, 1n]],
  ["P", [1_000_000_000_000_000n, 1n]],
  ["E", [1_000_000_000_000_000_000n, 1n]],
  ["Ki", [1024n, 1n]],
  ["Mi", [1024n ** 2n, 1n]],
  ["Gi", [1024n ** 3n, 1n]],
  ["Ti", [1024n ** 4n, 1n]],
  ["Pi", [1024n ** 5n, 1n]],
  ["Ei", [1024n ** 6n, 1n]],
];

const exponents = fc
  .tuple(fc.constantFrom("e", "E"), fc.integer({ min: -30, max: 30 }), fc.boolean())
  .map(([letter, power, plus]): readonly [string, Rational] => [
    `${letter}${plus && power >= 0 ? "+" : ""}${power}`,
    power < 0 ? [1n, 10n ** BigInt(-power)] : [10n ** BigInt(power), 1n],
  ]);

const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 24 });

/** A quantity's text, spelled in any way, and the exact number that it stands for. */
const spelled = fc
  .record({
    sign: fc.constantFrom("", "+", "-"),
    whole: digits,
    fraction: fc.option(fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 14 }), { nil: undefined }),
    bare: fc.boolean(),
    suffix: fc.oneof(fc.constantFrom(...suffixes), exponents),
  })
  .map(({ sign, whole, fraction, bare, suffix: [suffix, factor] }) => {
    const shown = bare && fraction ? "" : whole;
    const text = `${sign}${shown}${fraction === undefined ? "" : `.${fraction}`}${suffix}`;
    const size = BigInt(shown + (fraction ?? "")) * factor[0] * (sign === "-" ? -1n : 1n);
    return { text, exact: [size, 10n ** BigInt(fraction?.length ?? 0) * factor[1]] as const };
  });

describe("a quantity's spelling", () => {
  test("stands for the same number as exact arithmetic gives, in whole units and in thousandths", () => {
    fc.assert(
      fc.property(spelled, ({ text, exact: [numerator, denominator] }) => {
        const quantity = parseQuantity(text);
        expect(quantity, text).toBeDefined();
        expect(toUnits(quantity ?? 0n), text).toBe(rounded([numerator, denominator]));
        expect(toMilli(quantity ?? 0n), text).toBe(
          numerator > INT64_MAX * denominator
            ? INT64_MAX
            : numerator < -INT64_MAX * denominator
              ? -INT64_MAX
              : rounded([numerator * 1000n, denominator]),
        );
      }),
      { numRuns: 2000 },
    );
  });

  test("with white space around it reads the same, as upstream trims it", () => {
    expect(parseQuantity(" 16Gi\n")).toBe(parseQuantity("16Gi"));
  });

  test.each<[unknown, bigint, bigint]>([
    ["0", 0n, 0n],
    ["0Ki", 0n, 0n],
    ["1", 1n, 1000n],
    ["64", 64n, 64_000n],
    ["110", 110n, 110_000n],
    ["3920m", 4n, 3920n],
    ["15632Mi", 16_391_340_032n, 16_391_340_032_000n],
    ["32986188Ki", 33_777_856_512n, 33_777_856_512_000n],
    ["3Ei", 3_458_764_513_820_540_928n, INT64_MAX],
    ["5n", 1n, 1n],
    ["4u", 1n, 1n],
    ["3m", 1n, 3n],
    ["50k", 50_000n, 50_000_000n],
    ["1E", 1_000_000_000_000_000_000n, INT64_MAX],
    ["1E-3", 1n, 1n],
    ["1.3E+6", 1_300_000n, 1_300_000_000n],
    ["12e-1", 2n, 1200n],
    ["0.0005k", 1n, 500n],
    ["100.035k", 100_035n, 100_035_000n],
    ["1.01E", 1_010_000_000_000_000_000n, INT64_MAX],
    ["100.035Ki", 102_436n, 102_435_840n],
    ["0.025Ti", 27_487_790_695n, 27_487_790_694_400n],
    ["0.000000000001Ki", 1n, 1n],
    ["0.5", 1n, 500n],
    [".5", 1n, 500n],
    ["5.", 5n, 5000n],
    ["1.G", 1_000_000_000n, 1_000_000_000_000n],
    ["+1", 1n, 1000n],
    ["-1", -1n, -1000n],
    ["-1.5", -2n, -1500n],
    ["9007199254740993", 9_007_199_254_740_993n, 9_007_199_254_740_993_000n],
    ["9223372036854775807", INT64_MAX, INT64_MAX],
    ["9223372036854775807Ki", INT64_MAX, INT64_MAX],
    ["-9Ei", -INT64_MAX, -INT64_MAX],
    ["12E", INT64_MAX, INT64_MAX],
    [64, 64n, 64_000n],
    [0.1, 1n, 100n],
    [1e-7, 1n, 1n],
    [64n, 64n, 64_000n],
    [null, 0n, 0n],
  ])("%s is %s units and %s thousandths", (value, units, milli) => {
    const quantity = parseQuantity(value) ?? -7n;
    expect(toUnits(quantity)).toBe(units);
    expect(toMilli(quantity)).toBe(milli);
  });
});

describe("what is no quantity", () => {
  test.each<[unknown, string]>([
    ["", "is empty, not a quantity"],
    ["  ", "is empty, not a quantity"],
    ["12Kib", 'is not a quantity such as 500m, 2 or 16Gi: "12Kib"'],
    ["1.1.M", 'is not a quantity such as 500m, 2 or 16Gi: "1.1.M"'],
    ["1+1.0M", 'is not a quantity such as 500m, 2 or 16Gi: "1+1.0M"'],
    ["0.1mi", 'is not a quantity such as 500m, 2 or 16Gi: "0.1mi"'],
    ["-3.01e-", 'is not a quantity such as 500m, 2 or 16Gi: "-3.01e-"'],
    ["1e", 'is not a quantity such as 500m, 2 or 16Gi: "1e"'],
    ["1 Gi", 'is not a quantity such as 500m, 2 or 16Gi: "1 Gi"'],
    ["m", 'is not a quantity such as 500m, 2 or 16Gi: "m"'],
    [".", 'is not a quantity such as 500m, 2 or 16Gi: "."'],
    ["٣", 'is not a quantity such as 500m, 2 or 16Gi: "٣"'],
    ["NaN", 'is not a quantity such as 500m, 2 or 16Gi: "NaN"'],
    ["constructor", 'is not a quantity such as 500m, 2 or 16Gi: "constructor"'],
    [undefined, "is missing"],
    [true, "is of type boolean, not a quantity"],
    [{}, "is of type object, not a quantity"],
    [["1"], "is a list, not a quantity"],
    [2 ** 53, "is too large a number to be exact, write it as a string"],
  ])("is refused with its reason: %s", (value, problem) => {
    expect(parseQuantity(value)).toBeUndefined();
    expect(quantityProblem(value)).toBe(problem);
  });

  test("is a text of a million digits, which is refused unread", () => {
    const text = "9".repeat(1_000_000);
    expect(parseQuantity(text)).toBeUndefined();
    expect(quantityProblem(text)).toBe("has 1000000 characters, a quantity has at most 128");
  });

  test("is any text that the grammar does not allow", () => {
    const grammar = /^\s*[+-]?(\d+\.?\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?\s*$/;
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."019.+-eEinumkKMGTP "), maxLength: 12 }), (text) => {
        expect(parseQuantity(text) !== undefined).toBe(grammar.test(text));
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a hostile exponent", () => {
  test.each([
    ["1e999999999", INT64_MAX],
    ["-1e999999999", -INT64_MAX],
    [`1e${"9".repeat(120)}`, INT64_MAX],
    ["1e-999999999", 1n],
    ["0e999999999", 0n],
    [`${"9".repeat(120)}E`, INT64_MAX],
  ])("is answered without computing the power: %s", (text, units) => {
    expect(toUnits(parseQuantity(text) ?? -7n)).toBe(units);
  });
});
