import { type Document, isScalar, LineCounter, parseAllDocuments, Scalar } from "yaml";
import { field, isObject, type Json, type JsonObject } from "../../protocol/json.ts";
import { offsetOf, type Path, type Place } from "./document.ts";

/** A scheduler configuration or an old Policy file, wherever in a text it was found. */
export interface Found {
  readonly kind: "KubeSchedulerConfiguration" | "Policy";
  readonly apiVersion: string;
  /** Without fields that are null: Go reads them as absent. */
  readonly value: JsonObject;
  /** The YAML document that it is, for whoever wants to change it. */
  readonly document: Document;
  /** Where in the text that was read a path of it leads. */
  place(path: Path): Place;
}

/** What is no YAML. */
export interface Unreadable extends Place {
  readonly problem: string;
}

/** Everything that a text holds. */
export interface Contents {
  readonly found: readonly Found[];
  readonly unreadable: readonly Unreadable[];
  /** Other objects, such as a Deployment around the configuration. */
  readonly others: readonly Other[];
}

/** An object that is no configuration. */
export interface Other {
  readonly value: JsonObject;
  place(path: Path): Place;
}

/**
 * Finds scheduler configurations in a text: YAML or JSON, several documents, Lists, and ConfigMaps around them.
 * Never quotes the text, which may hold secrets.
 */
export function readContents(text: string): Contents {
  return readText(text, (place) => place);
}

type Shift = (place: Place) => Place;

function readText(text: string, shift: Shift): Contents {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, version: "1.1", logLevel: "silent" } as const;
  // Tabs indent JSON, and YAML knows none: a space keeps the columns.
  const readable = /^\s*[{[]/.test(text) ? text.replaceAll("\t", " ") : text;
  const parsed = parseAllDocuments(readable, options);
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return shift({ line: Math.max(line, 1), column: Math.max(col, 1) });
  };
  const documents = Array.isArray(parsed) ? parsed : [];
  return merge(documents.map((document) => readDocument(document, readable, at)));
}

function readDocument(document: Document.Parsed, text: string, at: (offset: number) => Place): Contents {
  const unreadable = document.errors.map(({ code, pos: [offset] }) => ({
    ...at(offset),
    problem: PROBLEMS[code] ?? `this is no valid YAML (${code})`,
  }));
  const repeated = document.errors.every(({ code }) => code === "DUPLICATE_KEY");
  const value = repeated ? plain(document) : undefined;
  const place = (path: Path) => at(offsetOf(document, path));
  return merge([{ found: [], others: [], unreadable }, readObject({ value, document, text, place, at, base: [] })]);
}

const PROBLEMS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "the key stands here twice",
  TAB_AS_INDENT: "a tab indents this line: YAML takes spaces only",
  BAD_INDENT: "the indentation does not fit the lines above",
  MULTILINE_IMPLICIT_KEY: "a colon or quote seems to be missing here",
  BLOCK_AS_IMPLICIT_KEY: "a second colon, or a line that is indented too far",
  MISSING_CHAR: "a character is missing here: a quote, a bracket or a comma",
};

interface Subject {
  readonly value: unknown;
  readonly document: Document;
  readonly text: string;
  readonly place: (path: Path) => Place;
  readonly at: (offset: number) => Place;
  /** Where in the document the object stands: not at its root in a List. */
  readonly base: Path;
}

function readObject(subject: Subject): Contents {
  const { value, base, place } = subject;
  if (!isObject(value)) return NOTHING;
  const kind = field(value, "kind");
  const below = (path: Path) => place([...base, ...path]);
  if (kind === "ConfigMap" || kind === "Secret") return readConfigMap(subject, value);
  const items = field(value, "items");
  if (typeof kind === "string" && kind.endsWith("List") && Array.isArray(items)) {
    return merge(items.map((item, index) => readObject({ ...subject, value: item, base: [...base, "items", index] })));
  }
  const configuration = kindOf(value);
  if (configuration === undefined) return { ...NOTHING, others: [{ value, place: below }] };
  const apiVersion = String(field(value, "apiVersion") ?? "");
  return { ...NOTHING, found: [{ kind: configuration, apiVersion, value, document: subject.document, place: below }] };
}

/** A file that forgot to say what it is counts as one too: it has extenders. */
function kindOf(value: JsonObject): Found["kind"] | undefined {
  const kind = field(value, "kind");
  if (kind === "KubeSchedulerConfiguration" || kind === "Policy") return kind;
  return kind === undefined && field(value, "extenders") !== undefined ? "KubeSchedulerConfiguration" : undefined;
}

function readConfigMap({ document, text: source, base, at }: Subject, value: JsonObject): Contents {
  const keys = ["data", "stringData"].flatMap((part) =>
    Object.entries((field(value, part) as JsonObject | undefined) ?? {}).map(([key, text]) => ({ part, key, text })),
  );
  return merge(
    keys.map(({ part, key, text }) => {
      if (typeof text !== "string" || !/KubeSchedulerConfiguration|"?kind"?\s*:\s*"?Policy|extenders/.test(text))
        return NOTHING;
      const node = document.getIn([...base, part, key], true);
      return isScalar(node) ? readText(text, shiftInto(node, source, at)) : NOTHING;
    }),
  );
}

/** Lines of a block (`|`) begin below its mark; those of a quoted text cannot be told apart. */
function shiftInto(node: Scalar, text: string, at: (offset: number) => Place): Shift {
  const [begin, end] = node.range ?? [0, 0];
  const start = at(begin);
  if (node.type !== Scalar.BLOCK_LITERAL) return () => start;
  const inText = text.slice(begin, end).replace(/^.*\n/, "");
  const indent = indentOf(inText) - indentOf(String(node.value));
  return ({ line, column }) => ({ line: start.line + line, column: column + indent });
}

/** How far the first line with something on it is indented. */
function indentOf(text: string): number {
  return /^[^\S\n]*(?=\S)/m.exec(text)?.[0].length ?? 0;
}

function plain(document: Document.Parsed): unknown {
  try {
    return withoutNulls(document.toJS() as Json);
  } catch {
    return undefined;
  }
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNulls(each as Json)]));
}

const NOTHING: Contents = { found: [], unreadable: [], others: [] };

function merge(parts: readonly Contents[]): Contents {
  return {
    found: parts.flatMap(({ found }) => found),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
    others: parts.flatMap(({ others }) => others),
  };
}
