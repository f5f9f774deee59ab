import { Command, InvalidArgumentError, Option } from "commander";
import { gatesProblem } from "../kube-scheduler/feature-gates.ts";

/** `berth check`: what is wrong with a scheduler configuration. */
export function checkCommand(): Command {
  return new Command("check")
    .summary("check a kube-scheduler configuration for faults and traps, each with its line and mend")
    .description(
      "Checks a KubeSchedulerConfiguration or an old Policy file, also inside a ConfigMap or a file of several " +
        "documents, for what kube-scheduler refuses and for what it takes and then suffers from. Secrets in the file are never " +
        "printed. Berth's own files, berth.yaml and facts.json, are checked by berth policy check.",
    )
    .argument("<file>", "the file; - reads standard input")
    .addOption(new Option("--output <form>", "for people or for programs").choices(["table", "json"]).default("table"))
    .option("--kubernetes-version <version>", "of kube-scheduler, such as 1.37; some traps depend on it")
    .option("--feature-gates <gates>", "as kube-scheduler is started with, such as GenericWorkload=true", readGates)
    .option("--nodes <file>", "nodes of the cluster (kubectl get nodes -o json), to compare managedResources with")
    .addHelpText(
      "after",
      `
Exit code: 0 nothing, or notes only; 3 warnings; 2 errors; 1 the check could not be done.

Examples:
  npx berth check /etc/kubernetes/scheduler.yaml --kubernetes-version 1.37
  kubectl -n kube-system get configmap my-scheduler -o yaml | npx berth check - --output json`,
    )
    .action(async (file, options) => (await import("../check.ts")).checkFile(file, options));
}

/** Where the flag stands more than once, all of it counts, as for kube-scheduler. */
function readGates(text: string, before?: string): string {
  const problem = gatesProblem(text);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return before === undefined ? text : `${before},${text}`;
}
