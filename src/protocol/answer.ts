import type { RequestNode } from "./args.ts";

/** What a filter decided. */
export interface FilterResult {
  /** The request's form. */
  readonly form: "nodes" | "names";
  /**
   * The nodes that fit, as the request has them, in its order. That they are the request's own is the whole check
   * there is: in nodes form kube-scheduler takes any node it gets back. The request's reader gives each name once.
   */
  readonly kept: readonly RequestNode[];
  /** Reason by node name. */
  readonly failed: ReadonlyMap<string, string>;
  /** Reason by node name, where evicting pods cannot help. kube-scheduler lets it win over `failed`. */
  readonly unresolvable: ReadonlyMap<string, string>;
}

/** A node's score for prioritize. */
export interface HostScore {
  readonly name: string;
  /** From `extenderScore`: an integer 0…10. */
  readonly score: number;
}

const encoder = new TextEncoder();
const COMMA = 0x2c;
const QUOTES_AND_COMMA = 3;

/**
 * The answer to filter, as the parts of JSON in UTF-8: `ExtenderFilterResult`, k8s.io/kube-scheduler
 * `extender/v1/types.go` v0.37.2.
 *
 * In nodes form the kept nodes are the request's own bytes: kube-scheduler goes on with the objects that come back
 * (`pkg/scheduler/extender.go` v1.37.2), so a field lost here would be lost for every later plugin. A node that is
 * kept twice is written once.
 */
export function filterAnswer(result: FilterResult): readonly Uint8Array[] {
  const reasons = `"FailedNodes":${reasonsText(result.failed)},"FailedAndUnresolvableNodes":${reasonsText(result.unresolvable)}`;
  if (result.form === "names") {
    const names = JSON.stringify(result.kept.map((node) => node.name));
    return [encode(`{"Nodes":null,"NodeNames":${names},${reasons},"Error":""}`)];
  }
  const head = encode('{"Nodes":{"metadata":{},"items":[');
  const tail = encode(`]},"NodeNames":null,${reasons},"Error":""}`);
  return [head, ...separated(runs(once(result.kept))), tail];
}

/**
 * The answer to filter when nothing could be decided. kube-scheduler throws the body of any status but 200 away, so
 * refusals travel in `Error`, where they reach the pod's event (`pkg/scheduler/extender.go` v1.37.2). An empty
 * `Error` would read as "no node fits": it is replaced.
 */
export function filterError(message: string): Uint8Array<ArrayBuffer> {
  const error = JSON.stringify(message === "" ? "the extender gave no reason" : message);
  return encode(`{"Nodes":null,"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":${error}}`);
}

/**
 * The answer to prioritize: `HostPriorityList`, k8s.io/kube-scheduler `extender/v1/types.go` v0.37.2. A single score
 * that is no plain integer would lose the whole list.
 *
 * @throws {RangeError} when a score is not an integer 0…10.
 */
export function prioritizeAnswer(hosts: readonly HostScore[]): Uint8Array<ArrayBuffer> {
  const quoted = quoting(hosts.map(({ name }) => name));
  let text = "";
  for (const { name, score } of hosts) {
    text += `${text === "" ? "[" : ","}{"Host":${quoted(name)},"Score":${checked(name, score)}}`;
  }
  return encode(text === "" ? "[]" : `${text}]`);
}

function checked(name: string, score: number): number {
  if (Number.isInteger(score) && score >= 0 && score <= 10) return score;
  throw new RangeError(`the score of node ${name} must be an integer 0…10, not ${score}`);
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

function once(nodes: readonly RequestNode[]): readonly RequestNode[] {
  return [...new Map(nodes.map((node) => [node.name, node])).values()];
}

/** A JSON object of strings. Written as text, for an object of JavaScript has names of its own, such as __proto__. */
function reasonsText(reasons: ReadonlyMap<string, string>): string {
  const quoted = quoting([...reasons.keys()]);
  // Reasons are few, and nodes have many in common.
  const known = new Map<string, string>();
  let text = "";
  for (const [name, reason] of reasons) {
    const written = known.get(reason) ?? JSON.stringify(reason);
    known.set(reason, written);
    text += `${text === "" ? "" : ","}${quoted(name)}:${written}`;
  }
  return `{${text}}`;
}

/** How these texts are written as JSON: all at once tell whether one has a character that JSON escapes. */
function quoting(texts: readonly string[]): (text: string) => string {
  // With a comma or bracket behind each, and a bracket before them all.
  const plain = texts.reduce((sum, { length }) => sum + length + QUOTES_AND_COMMA, 1);
  return JSON.stringify(texts).length === plain ? (text) => `"${text}"` : (text) => JSON.stringify(text);
}

/** The nodes' bytes; neighbours in the request with only a comma between them become one run. */
function runs(nodes: readonly RequestNode[]): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  let last: Uint8Array | undefined;
  for (const { name, raw } of nodes) {
    if (raw === undefined) throw new TypeError(`node ${name} came without its bytes: it was asked by name only`);
    const longer: Uint8Array | undefined = last && joined(last, raw);
    if (longer !== undefined) found.pop();
    last = longer ?? raw;
    found.push(last);
  }
  return found;
}

function joined(run: Uint8Array, raw: Uint8Array): Uint8Array | undefined {
  const gap = run.byteOffset + run.length;
  if (run.buffer !== raw.buffer || raw.byteOffset !== gap + 1) return undefined;
  const whole = new Uint8Array(run.buffer, run.byteOffset, run.length + 1 + raw.length);
  return whole[run.length] === COMMA ? whole : undefined;
}

/** Runs with a comma between them: a run's own one if it stands right before it, so that nothing small is sent alone. */
function separated(runs: readonly Uint8Array[]): readonly Uint8Array[] {
  const comma = Uint8Array.of(COMMA);
  return runs.flatMap((run, index) => {
    if (index === 0) return [run];
    const longer = withComma(run);
    return longer ? [longer] : [comma, run];
  });
}

function withComma({ buffer, byteOffset, length }: Uint8Array): Uint8Array | undefined {
  if (byteOffset === 0) return undefined;
  const longer = new Uint8Array(buffer, byteOffset - 1, length + 1);
  return longer[0] === COMMA ? longer : undefined;
}
