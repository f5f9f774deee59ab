import Table from "cli-table3";
import { Agent } from "undici";
import type { ShadowDifference } from "../binder/shadow.ts";
import { field, isObject, type Json } from "../protocol/json.ts";
import { CommandError } from "./command-error.ts";
import { readText } from "./read-text.ts";
import { createScreen, type Screen } from "./screen.ts";

/** How the binder is asked, and how the answer looks. */
export interface ShadowOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly details: boolean;
  readonly output: "table" | "json";
}

/**
 * Shows the differences that a binder keeps.
 *
 * @throws {CommandError} when a file or the binder cannot be had, or the binder has no shadow
 */
export async function shadow(url: string, options: ShadowOptions): Promise<void> {
  const { paint, print } = createScreen(process.stdout, process.stderr);
  const differences = readDifferences(await ask(url, options), url);
  if (options.output === "json") return print(JSON.stringify({ differences }, null, 2));
  if (differences.length === 0) return print("The policy in the shadow has decided alike so far.");
  const details = options.details ? differences.flatMap((difference) => detailsOf(difference, paint)) : [];
  print([shadowTable(differences, paint), ...details].join("\n"));
}

/** A row for each difference, the newest first. */
export function shadowTable(differences: readonly ShadowDifference[], paint: Screen["paint"]): string {
  const head = ["at", "pod", "verb", "differs in", "by plugin", "in force", "in the shadow"];
  const table = new Table({
    head: head.map((title) => paint("bold", title)),
    style: { head: [], border: [], compact: true },
  });
  for (const { at, pod, verb, kind, plugins, policy, shadow: other, shown } of differences) {
    const [first, last] = [shown[0]?.node ?? "", shown.at(-1)?.node ?? ""];
    const [ours, theirs] = kind === "order" ? [`best ${first}`, `best ${last}`] : verdictsOf(shown[0]);
    table.push([at, pod, verb, kind, plugins.join(", "), `${policy}: ${ours}`, `${other}: ${theirs}`]);
  }
  return table.toString();
}

function verdictsOf(shown: ShadowDifference["shown"][number] | undefined): [string, string] {
  const verdict = (findings: Json) => `${refusalOf(findings) === undefined ? "keeps" : "refuses"} ${shown?.node ?? ""}`;
  return [verdict(shown?.policy ?? null), verdict(shown?.shadow ?? null)];
}

function refusalOf(findings: Json): Json | undefined {
  const list: readonly Json[] = Array.isArray(findings) ? findings : [];
  return list.map((finding) => field(finding, "refusal")).find((refusal) => refusal !== undefined);
}

function detailsOf({ at, pod, shown, policy, shadow: other }: ShadowDifference, paint: Screen["paint"]): string[] {
  return shown.flatMap(({ node, policy: ours, shadow: theirs }) => [
    "",
    paint("bold", `${at} ${pod} on ${node}`),
    ...findingLines(policy, ours),
    ...findingLines(other, theirs),
  ]);
}

function findingLines(policy: string, findings: Json): string[] {
  const list: readonly Json[] = Array.isArray(findings) ? findings : [];
  return list.map((finding) => {
    const refusal = field(finding, "refusal");
    const said =
      refusal === undefined
        ? `score ${JSON.stringify(field(finding, "score") ?? null)}`
        : String(field(refusal, "reason"));
    return `  ${policy} ${String(field(finding, "plugin"))}: ${said}, from ${JSON.stringify(field(finding, "facts"))}`;
  });
}

function readDifferences(answer: Json, url: string): readonly ShadowDifference[] {
  const error = field(answer, "error");
  if (typeof error === "string") throw new CommandError(`${url}: ${error}`);
  const differences = field(answer, "differences");
  if (Array.isArray(differences) && differences.every(isObject)) return differences as unknown as ShadowDifference[];
  throw new CommandError(`${url} is no binder of this release: /shadow has no differences`);
}

async function ask(url: string, options: ShadowOptions): Promise<Json> {
  if (!URL.canParse("/shadow", url)) throw new CommandError(`${url} is no URL, such as https://10.96.0.20`);
  const [ca, cert, key] = await Promise.all([options.ca, options.cert, options.key].map(read));
  const agent = new Agent({
    connect: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), timeout: 10_000 },
  });
  try {
    const target = new URL("/shadow", url);
    const answer = await agent.request({ origin: target.origin, path: target.pathname, method: "GET" });
    const text = await answer.body.text();
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new CommandError(`${url} cannot be asked: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await agent.close();
  }
}

async function read(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  return readText(file);
}
