/**
 * Kubernetes quantities, exactly: `k8s.io/apimachinery` pkg/api/resource/quantity.go, v0.37.2.
 *
 * A quantity is a count of nano-units, the finest step that upstream keeps, so adding and comparing are plain
 * bigint operations. Two differences, both where upstream leaves the answer open: every spelling is capped at 2^63-1
 * units, not the binary ones alone, where upstream wraps around; and a number needs a digit, as the grammar says,
 * where upstream's parser lets `m` or `.` pass for zero.
 */
export type Quantity = bigint;

const NANOS = 10n ** 9n;
const INT64_MAX = 2n ** 63n - 1n;
const MAX = INT64_MAX * NANOS;

/** Longer texts are refused unread: no amount needs that many digits, and the work must stay bounded. */
const MAX_LENGTH = 128;
/** Digits that a double counts exactly. */
const EXACT_DIGITS = 15;

/** Nano-units of one unit of each suffix. */
const SUFFIXES: ReadonlyMap<string, bigint> = new Map(
  ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"]
    .map((suffix, index): [string, bigint] => [suffix, 1000n ** BigInt(index)])
    .concat(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((suffix, index) => [suffix, NANOS * 1024n ** BigInt(index + 1)])),
);

/** Sign, digits, fraction, suffix or exponent. */
const SPELLING = /^([+-]?)(\d*)(?:\.(\d*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

/**
 * Reads a quantity in any spelling that Kubernetes takes: `110`, `0.5`, `.5`, `5.`, `+1`, `250m`, `16Gi`, `12e-1`, or
 * a plain number. `null` is zero, as upstream decodes it. Answers undefined for anything else; {@link quantityProblem}
 * says why.
 */
export function parseQuantity(value: unknown): Quantity | undefined {
  if (typeof value === "string") return readPlain(value) ?? readSpelled(value);
  if (typeof value === "number") return readNumber(value);
  if (typeof value === "bigint") return capped(value * NANOS, MAX);
  return value === null ? 0n : undefined;
}

/** Says what is wrong with a value that {@link parseQuantity} refused, in words that end an error sentence. */
export function quantityProblem(value: unknown): string {
  if (value === undefined) return "is missing";
  if (typeof value === "number") return "is too large a number to be exact, write it as a string";
  if (typeof value !== "string")
    return `is ${Array.isArray(value) ? "a list" : `of type ${typeof value}`}, not a quantity`;
  if (value.trim() === "") return "is empty, not a quantity";
  if (value.length > MAX_LENGTH) return `has ${value.length} characters, a quantity has at most ${MAX_LENGTH}`;
  return `is not a quantity such as 500m, 2 or 16Gi: ${JSON.stringify(value)}`;
}

/** Thousandths of a unit, rounded away from zero and capped at 64 bits: `MilliValue()` upstream. */
export function toMilli(quantity: Quantity): bigint {
  return capped(dividedAway(quantity, 1_000_000n), INT64_MAX);
}

/** Whole units, rounded away from zero and capped at 64 bits: `Value()` upstream. */
export function toUnits(quantity: Quantity): bigint {
  return capped(dividedAway(quantity, NANOS), INT64_MAX);
}

/** The spellings that nodes and pods are full of, such as `3920m` and `32986188Ki`, without a regular expression. */
function readPlain(text: string): Quantity | undefined {
  let digits = 0;
  let count = 0;
  for (; digits <= EXACT_DIGITS; digits++) {
    const digit = text.charCodeAt(digits) - 48;
    if (!(digit >= 0 && digit <= 9)) break;
    count = count * 10 + digit;
  }
  if (digits === 0 || digits > EXACT_DIGITS) return undefined;
  const scale = digits === text.length ? NANOS : SUFFIXES.get(text.slice(digits));
  return scale === undefined ? undefined : capped(BigInt(count) * scale, MAX);
}

function readSpelled(text: string): Quantity | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, sign, whole = "", fraction = "", suffix = ""] = SPELLING.exec(text.trim()) ?? [];
  if (whole === "" && fraction === "") return undefined;
  const scale = SUFFIXES.get(suffix);
  const exponent = scale === undefined ? Number(suffix.slice(1)) : 0;
  const amount = scaled(BigInt(whole + fraction) * (scale ?? NANOS), exponent - fraction.length);
  return sign === "-" ? -amount : amount;
}

function readNumber(value: number): Quantity | undefined {
  if (Number.isSafeInteger(value)) return capped(BigInt(value) * NANOS, MAX);
  return Number.isInteger(value) ? undefined : readSpelled(String(value));
}

/** `amount` × 10^power, rounded up. Powers that only end at the cap or at the finest step are not computed. */
function scaled(amount: bigint, power: number): bigint {
  if (amount === 0n) return 0n;
  if (power > MAX_LENGTH) return MAX;
  if (power < -2 * MAX_LENGTH) return 1n;
  return power < 0 ? dividedAway(amount, 10n ** BigInt(-power)) : capped(amount * 10n ** BigInt(power), MAX);
}

function dividedAway(amount: bigint, step: bigint): bigint {
  const whole = amount / step;
  if (whole * step === amount) return whole;
  return amount > 0n ? whole + 1n : whole - 1n;
}

function capped(amount: bigint, limit: bigint): bigint {
  if (amount > limit) return limit;
  return amount < -limit ? -limit : amount;
}
