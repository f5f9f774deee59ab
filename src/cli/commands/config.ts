import { Command, InvalidArgumentError, Option } from "commander";
import { PLATFORMS, WIRINGS } from "../config/options.ts";

/** `berth config`: kube-scheduler's configuration for a wiring. */
export function configCommand(): Command {
  const command = new Command("config")
    .summary("write the configuration of kube-scheduler for a wiring, with a comment on every line")
    .description(
      "Writes a kubescheduler.config.k8s.io/v1 file that has kube-scheduler ask Berth, and refuses what would not work or " +
        "not be safe. It goes to standard output; what else there is to do goes to standard error.",
    )
    .addOption(new Option("--wiring <name>", "how they work together").choices(WIRINGS).makeOptionMandatory())
    .addOption(
      new Option("--platform <name>", "where kube-scheduler runs").choices(Object.keys(PLATFORMS)).default("kubeadm"),
    )
    .option("--kubernetes-version <version>", "of kube-scheduler", "1.37");
  addTargets(command);
  addBehaviour(command);
  return command
    .option("--from <file>", "go on from this configuration or old Policy file, and keep what is in it")
    .option("--out <file>", "write there instead of to standard output")
    .option("--force", "replace --out when it is there")
    .addHelpText("after", HELP)
    .action(async (options) => (await import("../config.ts")).config(options));
}

function addTargets(command: Command): void {
  command
    .option("--profile <name>", "of berth.yaml (default: default; binder-only: gpushare-scheduler)")
    .option("--function-url <url>", "of the function, with the path secret if it has one, without the profile")
    .option("--binder-url <url>", "of the in-cluster binder, without the profile")
    .option("--ca-file <path>", "the CA of the server's certificate, where kube-scheduler finds it")
    .option("--ca-data <file>", "the same from a PEM file of this machine, to stand in the configuration")
    .option("--client-cert <path>", "the client certificate, where kube-scheduler finds it")
    .option("--client-key <path>", "its key, where kube-scheduler finds it")
    .option("--server-name <name>", "the name in the server's certificate, where the URL has another");
}

function addBehaviour(command: Command): void {
  command
    .option("--managed-resource <name...>", "only pods that ask for it concern Berth; a device plugin advertises it")
    .option("--virtual-resource <name...>", "the same for a resource that nobody advertises (ignoredByScheduler)")
    .option("--weight <number>", "of Berth's scores among kube-scheduler's own", parseWhole, 5)
    .option("--timeout <duration>", "such as 1s or 1500ms (default: 1s; binder: 5s)")
    .option("--ignorable", "place pods without the function while it is away")
    .option("--no-ignorable", "have pods wait while the function is away")
    .option("--scheduler-name <name>", "of a second scheduler: what pods write into spec.schedulerName", "berth")
    .option("--lease <namespace/name>", "of a second scheduler", "berth-system/berth-scheduler")
    .option("--kubeconfig <path>", "kube-scheduler's own credential, where the platform's is not right");
}

function parseWhole(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

const HELP = `
Wirings:
  prioritize-only   the function scores, kube-scheduler's own filters decide: the safe start
  direct            the function filters and scores; preemption is off
  relay             the binder answers every verb for all pods and asks the function itself
  binder-only       the binder answers every verb for pods that ask for devices; no function
  second-scheduler  a kube-scheduler of its own beside the cluster's, asking the function or the binder

Examples:
  npx berth config --wiring prioritize-only --function-url https://berth.example.com --out scheduler.yaml
  npx berth config --wiring relay --binder-url https://10.96.0.20 --server-name berth-binder.berth-system.svc \\
    --ca-file /etc/kubernetes/berth/ca.crt --client-cert /etc/kubernetes/berth/client.crt \\
    --client-key /etc/kubernetes/berth/client.key --from /etc/kubernetes/scheduler.yaml`;
