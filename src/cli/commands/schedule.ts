import { Command, InvalidArgumentError, Option } from "commander";

const DESCRIPTION =
  "Places the pods that name it in spec.schedulerName, until SIGTERM or SIGINT, beside whatever other schedulers " +
  "the cluster has. Without a policy it decides by kube-scheduler's default plugins: NodeName, NodeUnschedulable, " +
  "TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, NodeResourcesBalancedAllocation; and GpuMemory " +
  "where the cluster has Berth's ledgers. It never evicts. What no plugin of the profile judges leaves a pod pending, " +
  "with an event that says so.";

const HELP = `
A pod stays pending that insists on one of these, unless a plugin of the profile judges it or --ignore names it:
  topologySpreadConstraints   with whenUnsatisfiable: DoNotSchedule
  podAffinity, podAntiAffinity   with required terms
  volumes                     claims (PVC, ephemeral) and disks that only some nodes can mount
  resourceClaims              dynamic resource allocation

With --function, the environment says the rest, as for \`berth binder\`: BERTH_FUNCTION_TOKEN_FILE or BERTH_FUNCTION_TOKEN
(a bearer credential of the function), BERTH_FUNCTION_CA, BERTH_FUNCTION_SECONDS (3), BERTH_POLICY_CACHE (a directory),
BERTH_CLUSTER. The profile is \`default\` unless --profile says otherwise.

Examples:
  npx berth schedule --scheduler-name berth --kubeconfig ~/.kube/config --dry-run
      what it would do with the pods that wait now
  npx berth schedule --scheduler-name berth --config berth.yaml --facts facts.json --profile default
      in the cluster, by your own policy; start as many as you like, one of them leads
  npx berth schedule --scheduler-name berth --mode watch --kubeconfig ~/.kube/config
      the scheduler that fits on two screens: src/scheduler/watch.ts, docs/from-scratch.md
  npx berth schedule --scheduler-name legacy --policy-file policy.cfg
      what a Policy file did before Kubernetes 1.23

A pod that it places:
  spec: { schedulerName: berth, containers: [ … ] }`;

/** `berth schedule`: a scheduler of its own, for clusters whose kube-scheduler takes no extender. */
export function scheduleCommand(): Command {
  return withPolicy(new Command("schedule"))
    .summary("run a scheduler of its own, where kube-scheduler takes no extender")
    .description(DESCRIPTION)
    .requiredOption(
      "--scheduler-name <name>",
      "what pods name; also the Lease's name and the source of events",
      parseName,
    )
    .addOption(
      new Option("--mode <mode>", "informer keeps what it knows; watch asks each time, for small clusters and reading")
        .choices(["informer", "watch"])
        .default("informer"),
    )
    .option(
      "--ignore <needs>",
      "place pods as if they did not insist on these, comma-separated (see below)",
      parseList,
      [],
    )
    .option("--percentage-of-nodes-to-score <n>", "1-100; 0 lets kube-scheduler's formula choose", parsePercentage, 0)
    .option("--seed <n>", "choose between equally good nodes in the same way each time", parseSeed)
    .option("--kubeconfig <file>", "how to reach the cluster; when not given, the service account of this pod")
    .option("--context <name>", "the kubeconfig's context to use")
    .option("--lease-namespace <name>", "where the Lease lives; when not given, the pod's or the context's namespace")
    .option("--listen <host:port>", "where /healthz, /readyz and /metrics are served", parseListen, "127.0.0.1:10360")
    .option("--dry-run", "decide once for each pod that waits, print it, write nothing", false)
    .addOption(new Option("-o, --output <form>", "of --dry-run").choices(["text", "json"]).default("text"))
    .addHelpText("after", HELP)
    .action(async (options) => (await import("../schedule.ts")).schedule(options));
}

/** What it decides by. */
function withPolicy(command: Command): Command {
  return command
    .option("--config <file>", "the policy, berth.yaml; when not given, the default plugins")
    .option("--facts <file>", "the facts of the fleet, facts.json, for policies that read them")
    .option("--profile <name>", "the profile to decide by, where there are several")
    .addOption(
      new Option(
        "--function <url>",
        "a Berth function to take the policy from, and to ask (settings: below)",
      ).conflicts(["config", "facts"]),
    )
    .addOption(
      new Option("--policy-file <file>", "an old kube-scheduler Policy file instead, with its extenders").conflicts([
        "config",
        "facts",
        "profile",
        "function",
      ]),
    );
}

function parseName(text: string): string {
  if (/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError("It must be lower-case letters, digits, dashes and dots, at most 63.");
}

function parseList(text: string): readonly string[] {
  return text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

function parsePercentage(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0 to 100.");
}

function parseSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

function parseListen(text: string): string {
  const port = /^(?:[^:[\]]+|\[[^\]]+\]):(\d{1,5})$/.exec(text)?.[1];
  if (port !== undefined && Number(port) <= 65_535) return text;
  throw new InvalidArgumentError("It must be host:port, such as 127.0.0.1:10360, 0.0.0.0:10360 or [::1]:10360.");
}
