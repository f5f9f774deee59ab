import { Command, InvalidArgumentError, Option } from "commander";

/** `berth dev`: the function on this machine. */
export function devCommand(): Command {
  return new Command("dev")
    .summary("try the function on this machine (npm start)")
    .description(
      "Serves the function on this machine with wrangler's dev server, over HTTPS with a certificate of an authority " +
        "kept in .berth/, shows how it decides on a request recorded from a real kube-scheduler, prints the extenders " +
        "block for your kube-scheduler, and serves until Ctrl-C. A change of berth.yaml or facts.json is noticed at once and " +
        "decided by within seconds; of several quick ones the last counts.",
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
    .action(async (options) => (await import("../dev.ts")).dev(options));
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("It must be a number from 0 to 65535.");
}
