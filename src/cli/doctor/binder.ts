import type { Asker } from "./ask.ts";
import { type Finding, ok, wrong } from "./finding.ts";

/** Informers that have heard nothing for so long know the cluster as it was. */
const OLD_MS = 120_000;

interface Readiness {
  readonly problems?: readonly string[];
  readonly leader?: boolean;
  readonly caches?: readonly { readonly resource: string; readonly synced: boolean; readonly heardAgo: number }[];
}

/** What a binder says of itself; nothing for a function, which has no `/readyz`. */
export async function binderFindings(asker: Asker): Promise<Finding[]> {
  const answer = await asker.askRoot("/readyz");
  if ("timedOut" in answer) return [];
  const said = readinessOf(answer.text);
  if (said?.caches === undefined) return [];
  const problems = said.problems ?? [];
  const ready =
    problems.length === 0
      ? ok("binder", `Ready${said.leader ? " and leading" : ", another one leads"}.`)
      : wrong(
          "binder",
          "failed",
          `Not ready: ${problems.join("; ")}.`,
          "Mend what it says; docs/binder.md has a table.",
        );
  return [ready, lag(said.caches)];
}

function lag(caches: NonNullable<Readiness["caches"]>): Finding {
  const oldest = caches.reduce((most, { heardAgo }) => Math.max(most, heardAgo), 0);
  const old = caches.filter(({ heardAgo }) => heardAgo > OLD_MS).map(({ resource }) => resource);
  const seconds = Math.round(oldest / 1000);
  if (old.length === 0) return ok("informers", `All of the cluster was heard of in the last ${seconds} s.`);
  return wrong(
    "informers",
    "warning",
    `Nothing was heard of ${old.join(", ")} for ${seconds} s: the binder decides by what was then.`,
    "Look at the API server and the network between it and the binder; berth_informer_age_seconds shows it.",
  );
}

function readinessOf(text: string): Readiness | undefined {
  try {
    return JSON.parse(text) as Readiness;
  } catch {
    return undefined;
  }
}
