import { Command } from "commander";
import { RELEASE } from "../protocol/release.ts";
import { binderCommand } from "./commands/binder.ts";
import { certsCommand } from "./commands/certs.ts";
import { checkCommand } from "./commands/check.ts";
import { configCommand } from "./commands/config.ts";
import { devCommand } from "./commands/dev.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { explainCommand } from "./commands/explain.ts";
import { initCommand } from "./commands/init.ts";
import { policyCommand } from "./commands/policy.ts";
import { scheduleCommand } from "./commands/schedule.ts";
import { serveCommand } from "./commands/serve.ts";
import { shadowCommand } from "./commands/shadow.ts";

/**
 * Runs the `berth` command. Each subcommand stands in a file of commands/, and its code is loaded when it is asked for.
 *
 * @param argv as `process.argv`
 * @throws an error whose message is for people
 */
export async function run(argv: readonly string[]): Promise<void> {
  const program = new Command("berth")
    .description("One placement policy for all your Kubernetes clusters: a scheduler extender as a function.")
    .version(RELEASE)
    .showHelpAfterError("(--help shows what there is)")
    // Options of a command and of its subcommands may have the same names.
    .enablePositionalOptions()
    .addCommand(devCommand())
    .addCommand(serveCommand())
    .addCommand(binderCommand())
    .addCommand(scheduleCommand())
    .addCommand(policyCommand())
    .addCommand(shadowCommand())
    .addCommand(certsCommand())
    .addCommand(doctorCommand())
    .addCommand(explainCommand())
    .addCommand(checkCommand())
    .addCommand(configCommand())
    .addCommand(initCommand());
  await program.parseAsync(argv);
}
