import { createHash } from "node:crypto";

/** One test's outcome on one kube-scheduler version. */
export interface Outcome {
  /** The suite, such as `a function that only prioritizes`. */
  readonly suite: string;
  /** The test's sentence, without the version. */
  readonly sentence: string;
  readonly version: string;
  readonly state: "passed" | "failed" | "skipped" | "pending";
  /** What the test saw, where it says more than that it held. */
  readonly seen: readonly string[];
}

/** What docs/compatibility.md is made from. */
export interface CompatibilityRun {
  /** The kube-scheduler versions, oldest first: the columns. */
  readonly versions: readonly string[];
  readonly apiServer: string;
  readonly outcomes: readonly Outcome[];
}

const words = { passed: "yes", failed: "**no**", skipped: "not run", pending: "not run" };

/** The whole page. Its last line is a digest of all before it, so that an edit by hand is noticed. */
export function compatibilityPage(run: CompatibilityRun): string {
  const suites = [...new Set(run.outcomes.map(({ suite }) => suite))];
  const body = [introduction(run), ...suites.map((suite) => section(run, suite))].join("\n");
  return `${body}\n${digestLine(body)}\n`;
}

/** The versions of a run that no test ran with: a page with empty columns would say less than the page before it. */
export function missingVersions({ versions, outcomes }: CompatibilityRun): string[] {
  const ran = new Set(outcomes.filter(({ state }) => state !== "skipped").map(({ version }) => version));
  return versions.filter((version) => !ran.has(version));
}

/** Whether a page is as it was written. */
export function isUntouched(page: string): boolean {
  const end = page.lastIndexOf("\n<!-- sha256 ");
  return end >= 0 && page.slice(end + 1) === `${digestLine(page.slice(0, end))}\n`;
}

function digestLine(body: string): string {
  return `<!-- sha256 ${createHash("sha256").update(body).digest("hex")} -->`;
}

function introduction({ apiServer, versions }: CompatibilityRun): string {
  return `# Compatibility

Written by \`npm run test:versions\`, which runs the end-to-end suite; not edited by hand. Real kube-schedulers ${versions.join(", ")} on a
real kube-apiserver ${apiServer} asked the function over HTTPS. Every row is a test: its sentence is what was checked, and
it held (yes), did not hold (**no**) or was not run. Lines below a table are what a test saw in that run.
`;
}

function section({ versions, outcomes }: CompatibilityRun, suite: string): string {
  const mine = outcomes.filter((outcome) => outcome.suite === suite);
  const sentences = [...new Set(mine.map(({ sentence }) => sentence))];
  const rows = sentences.map((sentence) => {
    const cells = versions.map((version) => cell(mine, sentence, version));
    return `| ${inCell(sentence)} | ${cells.join(" | ")} |`;
  });
  const seen = sentences.flatMap((sentence) => {
    const lines = notes(mine.filter((outcome) => outcome.sentence === sentence));
    return lines.length === 0 ? [] : [`- ${inCell(sentence)}`, ...lines];
  });
  const head = [`| ${inCell(suite)} … | ${versions.join(" | ")} |`, `|---|${versions.map(() => "---|").join("")}`];
  return [`## ${capital(suite)}\n`, ...head, ...rows, ...(seen.length > 0 ? ["", ...seen] : []), ""].join("\n");
}

function cell(outcomes: readonly Outcome[], sentence: string, version: string): string {
  const states = outcomes.filter((of) => of.sentence === sentence && of.version === version).map(({ state }) => state);
  const worst = (["failed", "pending", "skipped", "passed"] as const).find((state) => states.includes(state));
  return worst === undefined ? words.skipped : words[worst];
}

/** Versions that saw the same share a line. */
function notes(outcomes: readonly Outcome[]): string[] {
  const byNote = new Map<string, string[]>();
  for (const { seen, version } of outcomes) {
    for (const note of seen) byNote.set(note, [...(byNote.get(note) ?? []), version]);
  }
  return [...byNote].map(([note, versions]) => `  - ${versions.join(", ")}: ${inCell(note)}`);
}

function inCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
