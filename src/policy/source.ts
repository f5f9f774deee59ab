import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  visit,
} from "yaml";
import { type Check, formatPath, type PathFault } from "./faults.ts";

/** Something wrong in a file that people edit. */
export interface Fault {
  readonly file: string;
  /** Such as `profiles[0].plugins[1].weight`; empty for the document as a whole. */
  readonly path: string;
  /** From 1, as editors count. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/**
 * Reads the text of a YAML or JSON file and checks what it holds. Answers the checked value, or every fault with its
 * line and column, in the order of the file. A text that is no YAML is not checked further: what stands in it is a
 * guess.
 */
export function readDocument<T>(
  text: string,
  file: string,
  check: Check<T>,
): { readonly value: T } | { readonly faults: readonly Fault[] } {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // The parser compares every key of a map with every other; repeatedKeys finds them in one walk.
    uniqueKeys: false,
    logLevel: "silent",
  });
  const place = (offset: number, path: PathFault["path"], message: string): Fault => {
    const { line, col } = lines.linePos(offset);
    return { file, path: formatPath(path), line: Math.max(line, 1), column: Math.max(col, 1), message };
  };
  const [document, second] = Array.isArray(documents) ? documents : [];
  if (!document) return { faults: [place(0, [], "is empty")] };

  const faults = document.errors.map(({ pos: [offset], message }) =>
    place(offset, [], `is not valid YAML: ${message}`),
  );
  if (second) faults.push(place(second.range[0], [], "holds several documents, there must be one"));
  if (document.errors.length > 0) return { faults: inOrder(faults) };
  for (const offset of repeatedKeys(document)) {
    faults.push(place(offset, [], `the key ${keyAt(text, offset)} stands here twice`));
  }

  const data = readData(document);
  if ("problem" in data) return { faults: inOrder([...faults, place(data.offset, [], data.problem)]) };
  const checked = check(data.value);
  if ("value" in checked) return faults.length === 0 ? checked : { faults: inOrder(faults) };
  const found = checked.faults.map((fault) => place(offsetOf(document, fault), fault.path, fault.message));
  return { faults: inOrder([...faults, ...found]) };
}

/** Writes a fault as compilers do: `berth.yaml:12:7 profiles[0].plugins[1].weight: must be at least 1`. */
export function formatFault({ file, path, line, column, message }: Fault): string {
  return `${file}:${line}:${column} ${path === "" ? message : `${path}: ${message}`}`;
}

function inOrder(faults: readonly Fault[]): readonly Fault[] {
  return [...faults].sort((left, right) => left.line - right.line || left.column - right.column);
}

/** Where keys stand that their map has already. */
function repeatedKeys(document: Document.Parsed): number[] {
  const offsets: number[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) offsets.push(key.range?.[0] ?? 0);
        seen.add(key.value);
      }
    },
  });
  return offsets;
}

function keyAt(text: string, offset: number): string {
  return /^("[^"]*"|'[^']*'|[^\s:]*)/.exec(text.slice(offset, offset + 128))?.[0] ?? "";
}

/** The document as plain data. Aliases that lead nowhere, or to far too much, show only here. */
function readData(document: Document.Parsed): { value: unknown } | { problem: string; offset: number } {
  try {
    return { value: document.toJS() };
  } catch (error) {
    const problem = `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return { problem, offset: strayAlias(document) ?? 0 };
  }
}

function strayAlias(document: Document.Parsed): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document)) return undefined;
      offset = alias.range?.[0];
      return visit.BREAK;
    },
  });
  return offset;
}

/** Where in the text a path leads, or the nearest place above it that is there. */
function offsetOf(document: Document.Parsed, { path, at }: PathFault): number {
  let node: Node | null | undefined = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const [index, step] of path.entries()) {
    const { key, value } = stepInto(resolved(node, document), step);
    const target = at === "key" && index === path.length - 1 ? key : (value ?? key);
    if (!target) break;
    offset = target.range?.[0] ?? offset;
    node = value;
  }
  return offset;
}

function resolved(node: Node | null | undefined, document: Document.Parsed): Node | null | undefined {
  return isAlias(node) ? node.resolve(document) : node;
}

function stepInto(node: Node | null | undefined, step: string | number): { key?: Node; value?: Node } {
  if (isSeq<Node>(node)) {
    const item = node.items[Number(step)];
    return item ? { value: item } : {};
  }
  if (!isMap<Node, Node | null>(node)) return {};
  const pair: Pair<Node, Node | null> | undefined = node.items.findLast(
    ({ key }) => isScalar(key) && String(key.value) === String(step),
  );
  return pair ? { key: pair.key, ...(pair.value && { value: pair.value }) } : {};
}
