import { Command, InvalidArgumentError, Option } from "commander";
import { RELEASE } from "../protocol/release.ts";

/**
 * Runs the `berth` command. Each subcommand's code is loaded when it is asked for.
 *
 * @param argv as `process.argv`
 * @throws an error whose message is for people
 */
export async function run(argv: readonly string[]): Promise<void> {
  const program = new Command("berth")
    .description("One placement policy for all your Kubernetes clusters: a scheduler extender as a function.")
    .version(RELEASE)
    .showHelpAfterError("(--help shows what there is)")
    .addCommand(devCommand())
    .addCommand(serveCommand())
    .addCommand(binderCommand())
    .addCommand(policyCommand());
  await program.parseAsync(argv);
}

function devCommand(): Command {
  return new Command("dev")
    .summary("try the function on this machine (npm start)")
    .description(
      "Serves the function on this machine with wrangler's dev server, over HTTPS with a certificate of an authority " +
        "kept in .berth/, shows how it decides on a request recorded from a real kube-scheduler, prints the extenders " +
        "block for your kube-scheduler, and serves until Ctrl-C. A change of berth.yaml or facts.json shows at once.",
    )
    .option("-p, --port <port>", "the port on 127.0.0.1; 0 takes a free one", parsePort, 8787)
    .option("--profile <name>", "the profile to show; the first of berth.yaml when not given")
    .option("--once", "stop after the first decision, for scripts and CI", false)
    .addOption(
      new Option("-o, --output <form>", "decisions as a table and text, or as one line of JSON each")
        .choices(["text", "json"])
        .default("text"),
    )
    .option("--verbose", "show all that wrangler and the function log, a line for every decision among it", false)
    .addHelpText(
      "after",
      `
Examples:
  npm start                              serve, show a decision, go on serving
  npm start -- --port 9443               the same on another port
  npx berth dev --once --output json     one decision as JSON, for a script

Try it: start it, then change a price in facts.json. The table appears again, under a new policy version.`,
    )
    .action(async (options) => (await import("./dev.ts")).dev(options));
}

function serveCommand(): Command {
  return new Command("serve")
    .summary("serve the function on Node (npm run serve)")
    .description(
      "Serves the function on Node over HTTPS (HTTP/2 and HTTP/1.1) until SIGTERM or SIGINT. It logs one line of JSON " +
        "per decision to stdout, and takes a renewed certificate without a restart.",
    )
    .addHelpText(
      "after",
      `
Settings come from the environment:
  BERTH_LISTEN      host:port, 127.0.0.1:8443 when not set
  BERTH_TLS_CERT    file with the server's certificate, PEM; without one it serves plain HTTP, on loopback only
  BERTH_TLS_KEY     file with its private key, PEM
  BERTH_CLIENT_CA   file with the authorities of client certificates, for callers with {certificate: …}
  BERTH_CONFIG      berth.yaml when not set
  BERTH_FACTS       facts.json when not set
  BERTH_BODY_LIMIT  largest request in bytes, 33554432 (32 MiB) when not set
  BERTH_OPEN        "loopback" lets whoever calls from this machine in without a credential
  <NAME>            a secret that berth.yaml names; or <NAME>_FILE, the file that holds it

Example, with the certificate that \`berth dev\` has made and a secret for the caller in berth.yaml:
  CLUSTER_A_PATH=$(openssl rand -hex 16) BERTH_TLS_CERT=.berth/server.crt BERTH_TLS_KEY=.berth/server.key npm run serve`,
    )
    .action(async () => (await import("./serve.ts")).serve());
}

function binderCommand(): Command {
  return new Command("binder")
    .summary("run the in-cluster binder: filter, prioritize, preempt and bind by the cluster as it is")
    .description(
      "Runs the binder until SIGTERM or SIGINT. It answers all verbs of one extender entry by node names, gives pods " +
        "their devices, and stands in for gpushare's scheduler extender under /gpushare-scheduler. bind and preempt are " +
        "answered to verified client certificates and to callers on this machine only.",
    )
    .addHelpText(
      "after",
      `
Settings come from the environment, those of \`berth serve\` and:
  BERTH_CONFIG           berth.yaml; when not set there is the profile gpushare-scheduler only
  BERTH_KUBECONFIG       a kubeconfig file; when not set, the service account of this pod
  BERTH_LEASE_NAMESPACE  where the Lease berth-binder lives; when not set, the namespace of the pod or the kubeconfig
  BERTH_GRACE_SECONDS    how long a promised device waits for its pod to be bound, 30 when not set

Example, in place of gpushare's scheduler extender, on the host of kube-scheduler:
  BERTH_LISTEN=127.0.0.1:32766 BERTH_OPEN=loopback BERTH_KUBECONFIG=/etc/kubernetes/berth.conf npx berth binder`,
    )
    .action(async () => (await import("./binder.ts")).binder());
}

function policyCommand(): Command {
  const withFiles = (command: Command) =>
    command
      .option("--config <file>", "the policy", "berth.yaml")
      .option("--facts <file>", "the facts of the fleet", "facts.json");
  const check = withFiles(new Command("check"))
    .description("Checks both files and reports every fault with its line. Exit code 1 when there is one.")
    .action(async (options) => (await import("./policy.ts")).checkPolicy(options));
  const compile = withFiles(new Command("compile"))
    .description(
      "Checks both files and writes them as data for the Worker's bundle. wrangler runs it before each build.",
    )
    .option("--out <file>", "where to", "dist/policy.json")
    .action(async (options) => (await import("./policy.ts")).compilePolicy(options));
  return new Command("policy")
    .description("Checks and compiles berth.yaml and facts.json.")
    .addCommand(check)
    .addCommand(compile);
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("It must be a number from 0 to 65535.");
}
