import { Command, Option } from "commander";
import { PLATFORMS, WIRINGS } from "../config/options.ts";

/** `berth init`: everything that one cluster needs, in one folder. */
export function initCommand(): Command {
  return new Command("init")
    .summary("write policy, certificates, scheduler configuration and manifests for one cluster into a folder")
    .description(
      "Writes what one cluster needs into a folder and says the next commands. On a terminal it asks for what the options " +
        "leave open. Nothing that is there is overwritten unless --force says so; certificates never are.",
    )
    .argument("[folder]", "where to", "berth-kit")
    .addOption(new Option("--wiring <name>", "how they work together; berth config --help tells more").choices(WIRINGS))
    .addOption(new Option("--platform <name>", "what runs the control plane").choices(Object.keys(PLATFORMS)))
    .option("--kubernetes-version <version>", "such as 1.37")
    .addOption(new Option("--function <place>", "where the function runs").choices(["cluster", "workers", "none"]))
    .option("--function-url <url>", "of a function on Workers")
    .option("--cluster-ip <address>", "a free address of the Service range, for a kube-scheduler on the host's network")
    .option("--managed-resource <name...>", "only pods that ask for it concern Berth")
    .option("--yes", "ask nothing: take the defaults for what the options leave open")
    .option("--force", "replace files that are there")
    .addHelpText(
      "after",
      `
Examples:
  npx berth init
  npx berth init kit --yes --wiring relay --cluster-ip 10.96.0.200
  npx berth init kit --yes --wiring second-scheduler --platform eks`,
    )
    .action(async (folder, options) => (await import("../init.ts")).init(folder, options));
}
