import { formatPath } from "../../policy/faults.ts";
import { field, type JsonObject } from "../../protocol/json.ts";
import type { Path, Place } from "../kube-scheduler/document.ts";
import { type Contents, readContents } from "../kube-scheduler/read.ts";
import { flagRemarks, type Started, startedBy } from "./around.ts";
import type { Finding, Remark, Rule, Severity, Surroundings } from "./finding.ts";
import { cluster } from "./rules/cluster.ts";
import { cost, type WorstCase, worstCase } from "./rules/cost.ts";
import { profiles } from "./rules/profiles.ts";
import { secrets } from "./rules/secrets.ts";
import { shape } from "./rules/shape.ts";
import { tls } from "./rules/tls.ts";
import { together, verbs } from "./rules/verbs.ts";
import { versions } from "./rules/versions.ts";

const RULES: readonly Rule[] = [versions, shape, tls, secrets, verbs, together, profiles, cost, cluster];

/** What is known of the cluster beside the file. */
export interface Known {
  /** Of Kubernetes, such as 37. */
  readonly minor?: number;
  readonly gates?: ReadonlyMap<string, boolean>;
  readonly advertised?: ReadonlySet<string>;
}

/** What checking found. */
export interface Report {
  /** In the order of the file. */
  readonly findings: readonly Finding[];
  /** Of the configuration in the file, if there is exactly one with extenders. */
  readonly worstCase: WorstCase | undefined;
}

/**
 * Checks every scheduler configuration and old Policy file in a text, also in ConfigMaps and among other documents.
 * What stands around it (the image of kube-scheduler, its flags, its network) counts, and what the caller knows counts
 * more. No text of a finding repeats a secret of the file.
 */
export function check(text: string, known: Known = {}): Report {
  const contents = readContents(text);
  const around = surroundings(contents, known);
  const findings = [
    ...contents.unreadable.map(({ problem, line, column }) => ({ ...NOT_YAML, reason: problem, line, column })),
    ...contents.found.flatMap((found) =>
      RULES.flatMap((rule) => rule(found, around)).map((remark) => locate(remark, found.place)),
    ),
    ...contents.others.flatMap((other) => flagRemarks(other).map((remark) => locate(remark, other.place))),
  ];
  if (findings.length === 0 && contents.found.length === 0) findings.push(nothingThere(contents));
  const cases = contents.found.flatMap(({ value }: { value: JsonObject }) => worstCase(value) ?? []);
  return { findings: findings.sort(inOrder), worstCase: cases.length === 1 ? cases[0] : undefined };
}

/** The worst severity among findings; undefined when there are none. */
export function worst(findings: readonly Finding[]): Severity | undefined {
  return SEVERITIES.find((severity) => findings.some((finding) => finding.severity === severity));
}

const SEVERITIES = ["error", "warning", "note"] as const;

const NOT_YAML = {
  rule: "not-yaml",
  severity: "error",
  path: "",
  mend: "Correct the text; YAML is indented with spaces.",
} as const;

const NOTHING_THERE = {
  rule: "nothing-to-check",
  severity: "error",
  path: "",
  line: 1,
  column: 1,
  reason: "there is no KubeSchedulerConfiguration and no Policy file in it",
  mend: "Give the file that kube-scheduler's --config names, or the ConfigMap that holds it.",
} as const;

/** Whoever gives one of Berth's own files looked for the command that checks those. */
function nothingThere({ others }: Contents): Finding {
  const kinds = others.map(({ value }) => (isOwn(value) ? field(value, "kind") : undefined));
  const kind = kinds.find((each) => each === "PolicyConfiguration" || each === "FleetFacts");
  if (kind === undefined) return NOTHING_THERE;
  return {
    ...NOTHING_THERE,
    reason: `it is a ${kind} of Berth's own, and no configuration of kube-scheduler`,
    mend: "Check it with: npx berth policy check --config berth.yaml --facts facts.json (your files instead of these).",
  };
}

function isOwn(value: JsonObject): boolean {
  return String(field(value, "apiVersion")).startsWith("berth.dev/");
}

function surroundings({ others }: Contents, known: Known): Surroundings {
  const started: Started[] = others.flatMap(startedBy);
  const [first] = started;
  return {
    minor: known.minor ?? first?.minor,
    gates: new Map([...started.flatMap(({ gates }) => [...gates]), ...(known.gates ?? [])]),
    hostNetwork: started.length === 0 ? undefined : started.some(({ hostNetwork }) => hostNetwork),
    advertised: known.advertised,
  };
}

function locate({ path, ...remark }: Remark, place: (path: Path) => Place): Finding {
  const { line, column } = place(path);
  return { ...remark, path: formatPath(path), line, column };
}

function inOrder(left: Finding, right: Finding): number {
  const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity);
  return left.line - right.line || left.column - right.column || rank(left) - rank(right);
}
