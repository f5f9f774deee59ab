import { Command, Option } from "commander";

/** `berth shadow`: what a policy in the shadow would have done otherwise. */
export function shadowCommand(): Command {
  return new Command("shadow")
    .summary("show where a policy in the shadow would have decided otherwise")
    .description(
      "Asks a binder for the last hundred requests that the policy in the shadow (BERTH_SHADOW_PROFILE or " +
        "BERTH_SHADOW_URL of the binder) would have answered otherwise, and shows what both made of a few nodes of each.",
    )
    .argument("<url>", "of the binder, such as https://berth-binder.berth-system.svc")
    .option("--ca <file>", "the authority of the binder's certificate, when it is none of the system's")
    .option("--cert <file>", "a client certificate that the binder knows")
    .option("--key <file>", "its key")
    .option("--details", "also what both policies made of single nodes", false)
    .addOption(new Option("--output <form>", "for people or for programs").choices(["table", "json"]).default("table"))
    .addHelpText(
      "after",
      `
Exit code: 0 whether there are differences or not; 1 the binder could not be asked.

Examples:
  npx berth shadow https://10.96.0.20 --ca ca.crt --cert client.crt --key client.key
  kubectl -n berth-system port-forward svc/berth-binder 8443:443 &
  npx berth shadow https://localhost:8443 --ca ca.crt --cert client.crt --key client.key --output json`,
    )
    .action(async (url, options) => (await import("../shadow.ts")).shadow(url, options));
}
