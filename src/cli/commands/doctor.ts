import { Command, InvalidArgumentError, Option } from "commander";

/** `berth doctor`: calls an extender as kube-scheduler would. */
export function doctorCommand(): Command {
  return new Command("doctor")
    .summary("call an extender as kube-scheduler would, and say which step fails")
    .description(
      "Calls an extender the way kube-scheduler's client does, step by step: DNS, TCP, TLS (validity, names, authority), " +
        "HTTP version, credential, profile, body size, latency. With a kubeconfig it asks the cluster too: the binder's " +
        "rights, ledgers, devices, events that tell of extenders, autoscalers. It names the step that fails and the mend. " +
        "Run it on kube-scheduler's host: names and routes are others elsewhere. It changes nothing.",
    )
    .argument("[url]", "the urlPrefix, such as https://berth.example.com/default; or give --config")
    .option("--config <file>", "take the extender from a KubeSchedulerConfiguration, with its verbs, TLS and timeout")
    .option("--extender <number>", "which of the configuration's extenders", parseNumber, 1)
    .option("--ca <file>", "the authority of the server's certificate, PEM; the machine's own when not given")
    .option("--cert <file>", "the client certificate, PEM")
    .option("--key <file>", "its private key, PEM")
    .option("--names", "send node names instead of whole nodes (nodeCacheCapable)", false)
    .option("--timeout <duration>", "httpTimeout, 5s when not given")
    .option("--nodes <count>", "how many nodes to send; as many as kube-scheduler would when not given", parseNumber)
    .option("--calls <count>", "how often each verb is called", parseNumber, 20)
    .option("--kubeconfig <file>", "look at the cluster too, and send its nodes")
    .option("--context <name>", "the kubeconfig's context")
    .option("--account <namespace/name>", "the binder's service account", parseAccount, "berth-system/berth-binder")
    .addOption(new Option("-o, --output <form>", "a table, or JSON").choices(["text", "json"]).default("text"))
    .addHelpText(
      "after",
      `
Exit code: 0 well, 3 warnings, 2 a step fails, 1 nothing could be looked at.

Examples:
  npx berth doctor https://berth.example.workers.dev/the-path-secret/default
  npx berth doctor https://10.96.0.40/gpu --names --ca .berth/certs/ca.crt --cert .berth/certs/client.crt \\
      --key .berth/certs/client.key --kubeconfig ~/.kube/config
  npx berth doctor --config /etc/kubernetes/scheduler.yaml --kubeconfig /etc/kubernetes/admin.conf`,
    )
    .action(async (url, options) => (await import("../doctor.ts")).doctor(url, options));
}

function parseNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number from 1.");
}

function parseAccount(text: string): string {
  if (/^[^/]+\/[^/]+$/.test(text)) return text;
  throw new InvalidArgumentError("It must be <namespace>/<name>.");
}
