import type * as z from "zod";

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;
type Path = readonly (string | number)[];

/** Something wrong at one place of a document. */
export interface PathFault {
  readonly path: Path;
  /** What is wrong and what to do, without the place. */
  readonly message: string;
  /** Set when the key itself is wrong, not what stands behind it. */
  readonly at?: "key";
}

/** What checking gives: the value, or everything that is wrong with it. */
export type Checked<T> = { readonly value: T } | { readonly faults: readonly PathFault[] };

/** Checks data that was read from somewhere. */
export type Check<T> = (data: unknown) => Checked<T>;

const NO_FORM_FITS = "fits none of the forms that it may have";

/** Turns a schema into a check that reports every fault at once, in words for people. */
export function checkSchema<T>(schema: z.ZodType<T>): Check<T> {
  return (data) => {
    const known = new Map<readonly string[], readonly string[]>();
    const error = (issue: RawIssue): string | undefined => {
      if (issue.code === "unrecognized_keys") known.set(issue.keys, keysOf(issue.inst));
      return words(issue);
    };
    const result = schema.safeParse(data, { error });
    if (result.success) return { value: result.data };
    return { faults: result.error.issues.flatMap((issue) => faultsOf(issue, known, [])) };
  };
}

/** Writes a path as people do: `profiles[0].plugins[1].weight`, `prices[0].match["topology.kubernetes.io/zone"]`. */
export function formatPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      if (!/^[\w-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join("");
}

function faultsOf(issue: Issue, known: ReadonlyMap<readonly string[], readonly string[]>, above: Path): PathFault[] {
  const path = [...above, ...issue.path.map((step) => (typeof step === "number" ? step : String(step)))];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: unknownKey(key, known.get(issue.keys) ?? []),
      at: "key",
    }));
  }
  if (issue.code === "invalid_key")
    return issue.issues.map(({ message }) => ({ path, message: `key ${message}`, at: "key" }));
  const branch = issue.code === "invalid_union" && issue.message === NO_FORM_FITS ? likeliest(issue.errors) : undefined;
  return branch?.flatMap((inner) => faultsOf(inner, known, path)) ?? [{ path, message: issue.message }];
}

/** The form that was probably meant: the only one whose faults lie deeper than in the value as a whole. */
function likeliest(forms: readonly Issue[][]): Issue[] | undefined {
  const near = forms.filter(
    (issues) => !issues.some((issue) => issue.code === "invalid_type" && issue.path.length === 0),
  );
  return near.length === 1 ? near[0] : undefined;
}

function keysOf(inst: RawIssue["inst"]): readonly string[] {
  const def = inst?._zod.def as { readonly shape?: object } | undefined;
  return Object.keys(def?.shape ?? {});
}

function unknownKey(key: string, known: readonly string[]): string {
  if (known.length === 0) return "unknown key";
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: edits(key.slice(0, 64).toLowerCase(), candidate.toLowerCase()) }))
    .filter((each) => each.edits <= Math.max(2, each.candidate.length / 3))
    .sort((left, right) => left.edits - right.edits);
  const hint = nearest ? `did you mean ${nearest.candidate}? ` : "";
  return `unknown key, ${hint}known here: ${known.join(", ")}`;
}

/** How many letters have to be added, dropped or changed (Levenshtein distance). */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= to.length; at++) {
      const change = (row[at - 1] ?? 0) + (letter === to[at - 1] ? 0 : 1);
      next.push(Math.min(change, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
};

/** Says an issue in words that follow the place; undefined leaves it to zod. */
function words(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return wanted(TYPES[issue.expected] ?? issue.expected, issue.input);
    case "invalid_value":
      return wanted(oneOf(issue.values), issue.input);
    case "too_small":
      return tooSmall(issue.origin, issue.minimum, issue.inclusive !== false);
    case "too_big":
      return `must ${sized(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}`;
    case "invalid_format":
      return issue.pattern === undefined ? `is not a valid ${issue.format}` : `must match ${issue.pattern}`;
    case "invalid_union":
      return NO_FORM_FITS;
    default:
      return undefined;
  }
}

function wanted(what: string, input: unknown): string {
  return input === undefined ? `is missing, it must be ${what}` : `must be ${what}, not ${shown(input)}`;
}

function shown(input: unknown): string {
  if (typeof input === "string") return JSON.stringify(input.slice(0, 64));
  if (typeof input !== "object") return String(input);
  return Array.isArray(input) ? "a list" : input === null ? "null" : "a map";
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(", ")}`;
}

function tooSmall(origin: string, minimum: number | bigint, inclusive: boolean): string {
  if ((origin === "string" || origin === "array") && inclusive && minimum === 1) return "must not be empty";
  return `must ${sized(origin, inclusive ? "at least" : "more than", minimum)}`;
}

function sized(origin: string, relation: string, bound: number | bigint): string {
  if (origin === "string") return `have ${relation} ${bound} characters`;
  return origin === "array" ? `have ${relation} ${bound} entries` : `be ${relation} ${bound}`;
}
