import { Command } from "commander";

/** `berth policy check` and `berth policy compile`. */
export function policyCommand(): Command {
  const withFiles = (command: Command) =>
    command
      .option("--config <file>", "the policy", "berth.yaml")
      .option("--facts <file>", "the facts of the fleet", "facts.json")
      .option("--plugins <file>", "your own list of plugins, a file that exports it as `plugins` (docs/policies.md)");
  const check = withFiles(new Command("check"))
    .description("Checks both files and reports every fault with its line. Exit code 1 when there is one.")
    .action(async (options) => (await import("../policy.ts")).checkPolicy(options));
  const compile = withFiles(new Command("compile"))
    .description(
      "Checks both files and writes them as data for the Worker's bundle. wrangler runs it before each build.",
    )
    .option("--out <file>", "where to", "dist/policy.json")
    .action(async (options) => (await import("../policy.ts")).compilePolicy(options));
  return new Command("policy")
    .summary("check and compile berth.yaml and facts.json")
    .description("Checks and compiles berth.yaml and facts.json.")
    .addCommand(check)
    .addCommand(compile);
}
