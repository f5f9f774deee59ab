import { Command, Option } from "commander";

/** `berth explain`: why a pod goes where it goes. */
export function explainCommand(): Command {
  return (
    withPolicy(new Command("explain"))
      .summary("say why a pod goes where it goes: verdicts, reasons, facts and scores per node")
      .description(
        "Judges a pod against every node and tells, for each, the verdict, every reason, and the raw, scaled and weighted " +
          "score of each plugin; for a node that loses, by which plugins. By the policy of berth.yaml here, or of a function " +
          "(--url), to which only the facts go that its plugins read. It changes nothing.",
      )
      .option("--file <request.json>", "explain a request that kube-scheduler has sent: the body of a filter call")
      .action(async (options, command: Command) => {
        if (options.file === undefined) return command.help({ error: true });
        return (await import("../explain.ts")).explainFile(options.file, options);
      })
      // The subcommands have options of the same names.
      .enablePositionalOptions()
      .addCommand(podCommand())
      .addCommand(nodesCommand())
      .addHelpText(
        "after",
        `
Examples:
  npx berth explain pod team-a/train-0                  a pod of the cluster, as of now
  npx berth explain pod train-0 --node gpu-3            all that is known of one node
  npx berth explain --file request.json --output json   a request from a log or a recording
  npx berth explain nodes                               who holds the GPU memory`,
      )
  );
}

function podCommand(): Command {
  return withCluster(withPolicy(new Command("pod")))
    .description("Explains a pod of the cluster, as of now: a pod that is bound is judged as if it were not.")
    .argument("<namespace/name>", "the pod")
    .addHelpText(
      "after",
      "\nExample:\n  npx berth explain pod team-a/train-0 --url https://berth.example.com/the-path-secret/default",
    )
    .action(async (pod, options) => (await import("../explain.ts")).explainPod(pod, options));
}

function nodesCommand(): Command {
  return withCluster(new Command("nodes"))
    .description(
      "Shows the GPU memory of each node and device as bars and numbers, and the pods that hold it, as of now.",
    )
    .addOption(output())
    .addHelpText("after", "\nExample:\n  npx berth explain nodes --context cluster-a")
    .action(async (options) => (await import("../explain.ts")).explainNodes(options));
}

function withPolicy(command: Command): Command {
  return command
    .option("--config <file>", "the policy", "berth.yaml")
    .option("--facts <file>", "the facts of the fleet", "facts.json")
    .option("--profile <name>", "the profile; the first of berth.yaml when not given")
    .option("--url <url>", "a function's URL with the profile at its end, instead of the files")
    .option("--ca <file>", "the authority of the function's certificate, PEM")
    .option("--cert <file>", "the client certificate for the function, PEM")
    .option("--key <file>", "its private key, PEM")
    .option("--node <name>", "only this node, with all that is known of it")
    .option("--details", "facts and numbers of every node below the table", false)
    .addOption(output());
}

function withCluster(command: Command): Command {
  return command
    .option("--kubeconfig <file>", "KUBECONFIG or ~/.kube/config when not given")
    .option("--context <name>", "the kubeconfig's context");
}

function output(): Option {
  return new Option("-o, --output <form>", "a table, or JSON").choices(["text", "json"]).default("text");
}
