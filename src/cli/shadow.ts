import Table from "cli-table3";
import { Agent } from "undici";
import type { ShadowDifference } from "../binder/shadow.ts";
import { field, isObject, type Json } from "../protocol/json.ts";
import { whyUnreachable } from "../remote/client-errors.ts";
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
  const target = URL.parse("/shadow", url);
  if (!target || !/^https?:$/.test(target.protocol)) {
    throw new CommandError(`${url} is no URL of a binder, such as https://10.96.0.20`);
  }
  const [ca, cert, key] = await Promise.all([read("ca", options), read("cert", options), read("key", options)]);
  const agent = new Agent({
    connect: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), timeout: 10_000 },
  });
  try {
    const answer = await agent.request({ origin: target.origin, path: target.pathname, method: "GET" });
    return parse(await answer.body.text(), url, answer.statusCode);
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(whyUnasked(url, error));
  } finally {
    await agent.close();
  }
}

function parse(text: string, url: string, status: number): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new CommandError(`${url} is no binder: it answers HTTP ${status} with a text that is no JSON`);
  }
}

function whyUnasked(url: string, error: unknown): string {
  const code = String((error as NodeJS.ErrnoException).code);
  if (code.startsWith("ERR_OSSL")) {
    return `no connection can be made with these --ca, --cert and --key (${code}): each has to be PEM, and the key that of the certificate`;
  }
  const why = whyUnreachable(error, "--ca has to name the authority that signed it");
  return `the binder at ${url} cannot be reached: ${why}. The command berth doctor looks at each step`;
}

async function read(option: "ca" | "cert" | "key", options: ShadowOptions): Promise<string | undefined> {
  const file = options[option];
  return file === undefined ? undefined : readText(file, `--${option} ${file}`);
}
