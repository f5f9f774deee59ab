import { cancel, intro, isCancel, outro, select, text } from "@clack/prompts";
import { CommandError } from "../command-error.ts";
import { PLATFORMS, type Platform, type Wiring } from "../config/options.ts";
import type { Answers, Place } from "./answers.ts";

const WIRINGS: readonly { readonly value: Wiring; readonly label: string; readonly hint: string }[] = [
  {
    value: "prioritize-only",
    label: "prioritize only",
    hint: "the function scores, nothing is refused: the safe start",
  },
  { value: "direct", label: "direct", hint: "the function filters and scores; preemption is off" },
  { value: "relay", label: "relay", hint: "a binder in the cluster answers, and asks the function itself: production" },
  { value: "binder-only", label: "binder only", hint: "GPU memory for pods that ask for it; no function" },
  {
    value: "second-scheduler",
    label: "second scheduler",
    hint: "beside the cluster's own: the only way on EKS, GKE, AKS",
  },
];

/** Asks on the terminal for what the flags have left open. */
export async function ask(given: Answers): Promise<Answers> {
  intro("berth init: what belongs to one cluster, in one folder");
  const wiring =
    given.wiring ??
    (await answered(select<Wiring>({ message: "How shall they work together?", options: [...WIRINGS] })));
  const platforms = Object.keys(PLATFORMS) as Platform[];
  const platform =
    given.platform ??
    (await answered(
      select<Platform>({ message: "What runs the control plane?", options: platforms.map((value) => ({ value })) }),
    ));
  const kubernetesVersion =
    given.kubernetesVersion ?? (await answered(text({ message: "Which Kubernetes version?", initialValue: "1.37" })));
  const place = await askPlace(given, wiring);
  const functionUrl =
    given.functionUrl ??
    (place === "workers"
      ? await answered(text({ message: "The function's address?", placeholder: "https://berth.example.workers.dev" }))
      : undefined);
  const clusterIp = given.clusterIp ?? (await askAddress(wiring, place));
  outro("That is all.");
  return {
    ...given,
    wiring,
    platform,
    kubernetesVersion,
    ...(place && { function: place }),
    ...(functionUrl && { functionUrl }),
    ...(clusterIp && { clusterIp }),
  };
}

async function askPlace(given: Answers, wiring: Wiring): Promise<Place | undefined> {
  if (given.function !== undefined || wiring === "binder-only" || wiring === "second-scheduler") return given.function;
  return answered(
    select<Place>({
      message: "Where does the function run?",
      options: [
        { value: "cluster", label: "in the cluster", hint: "nothing leaves it" },
        { value: "workers", label: "Cloudflare Workers", hint: "one policy for many clusters" },
      ],
    }),
  );
}

/** kube-scheduler on the host's network asks the host's DNS, which knows no Services. */
async function askAddress(wiring: Wiring, place: Place | undefined): Promise<string | undefined> {
  const outside = place === "workers" && wiring !== "relay";
  if (wiring === "second-scheduler" || outside) return undefined;
  const message = "A free address of the cluster's Service range, which kube-scheduler will call? (empty: by name)";
  return answered(text({ message, placeholder: "10.96.0.200", defaultValue: "" }));
}

async function answered<T>(question: Promise<T>): Promise<Exclude<T, symbol>> {
  const answer = await question;
  if (!isCancel(answer)) return answer as Exclude<T, symbol>;
  cancel("Nothing was written.");
  throw new CommandError("stopped before all questions were answered; nothing was written");
}
