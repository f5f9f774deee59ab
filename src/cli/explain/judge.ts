import { type PolicyFiles, readPolicyFiles } from "../../adapters/policy-files.ts";
import { evaluateFacts } from "../../extender/evaluate.ts";
import { fleetLookup } from "../../policy/lookup.ts";
import { viewsOf } from "../../policy/policy.ts";
import { loadPolicies } from "../../policy/profile.ts";
import { registry } from "../../policy/registry.ts";
import type { View } from "../../policy/view.ts";
import { viewByName } from "../../policy/view-table.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { readProfile } from "../../remote/document.ts";
import { CommandError } from "../command-error.ts";
import type { Asker } from "../doctor/ask.ts";
import { questionAbout, type Subject } from "./subject.ts";

/** Says what a policy makes of a subject: the answer of `evaluate` with explanations. */
export type Judge = (subject: Subject) => Promise<JsonObject>;

/**
 * Judges by the policy of two files.
 *
 * @throws {CommandError} when there is no such profile; the files' own errors name every fault
 */
export async function localJudge(files: PolicyFiles, profile: string | undefined): Promise<Judge> {
  const { configuration, facts } = await readPolicyFiles(files, registry);
  const { policies } = await loadPolicies(configuration, facts, registry);
  const name = profile ?? [...policies.keys()][0] ?? "";
  const policy = policies.get(name);
  if (!policy)
    throw new CommandError(`${files.configFile} has no profile ${name}; it has ${[...policies.keys()].join(", ")}`);
  const around = fleetLookup(facts);
  return async (subject) => {
    const question = questionAbout(subject, viewsOf(policy));
    // As it would come back over the network: numbers beyond JSON are strings.
    return JSON.parse(JSON.stringify(evaluateFacts(policy, around, question))) as JsonObject;
  };
}

/**
 * Judges by a function: it tells what its plugins read, and is asked in facts. No object leaves this machine.
 *
 * @throws {CommandError} when the function does not answer, refuses, or reads facts that this release does not know
 */
export function functionJudge(asker: Asker, profile: string): Judge {
  return async (subject) => {
    const document = readProfile(Buffer.from(await answered(asker, "")), profile);
    if ("problem" in document) throw new CommandError(document.problem);
    const names = document.value.plugins.flatMap(({ reads }) => [...reads.pod, ...reads.node]).map(({ name }) => name);
    const question = questionAbout(subject, [...new Set(names)].map(knownView));
    return JSON.parse(await answered(asker, "/evaluate", JSON.stringify(question))) as JsonObject;
  };
}

function knownView(name: string): View<unknown> {
  const view = viewByName(name);
  if (view) return view;
  throw new CommandError(`the function's policy reads ${name}, which this release does not know: update this one`);
}

async function answered(asker: Asker, path: string, body?: string): Promise<string> {
  const answer = await asker.ask(path, body);
  if ("timedOut" in answer) {
    throw new CommandError(
      `the function does not answer (${answer.timedOut ? "too slow" : answer.code}): see berth doctor`,
    );
  }
  if (answer.status === 200) return answer.text;
  throw new CommandError(`the function answers HTTP ${answer.status}${told(answer.text)}: see berth doctor`);
}

function told(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Json };
    return typeof error === "string" ? ` (${error})` : "";
  } catch {
    return "";
  }
}
