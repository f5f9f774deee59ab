import { Command, InvalidArgumentError, Option } from "commander";

/** `berth certs`: an authority, a server certificate and a client certificate. */
export function certsCommand(): Command {
  return new Command("certs")
    .summary("make and renew the certificates of binder and kube-scheduler")
    .description(
      "Keeps an authority, a server certificate and a client certificate in a folder. It makes what is missing, renews " +
        "what ends within 30 days or is for other names, and leaves the rest as it is: run it as often as you like. It " +
        "writes the Kubernetes Secrets beside them (secrets.yaml) and prints caData for kube-scheduler's configuration.",
    )
    .option("--folder <folder>", "where certificates and keys are kept", ".berth/certs")
    .option(
      "--name <name...>",
      "DNS names and IP addresses of the server; those it has, or those of infra/, when not given",
    )
    .option("--client <name>", "the client's common name, which berth.yaml names as {certificate: …}", "kube-scheduler")
    .option("--days <days>", "how long server and client certificates last", parseDays, 365)
    .option("--authority-days <days>", "how long a new authority lasts", parseDays, 3650)
    .option("--renew", "make server and client certificates anew although they would last", false)
    .option("--new-authority", "make a new authority; the old one is kept, and trusted on beside it", false)
    .option("--namespace <namespace>", "of the Secrets", "berth-system")
    .option("--secret <name>", "the server's Secret", "berth-binder-tls")
    .addOption(
      new Option("-o, --output <form>", "text, or JSON without any key").choices(["text", "json"]).default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  npx berth certs                                    for a binder of infra/
  npx berth certs --name 10.0.0.5 berth.example.com  for a URL with an IP address: Go wants it in the certificate
  npx berth certs --renew                            new certificates of the same authority, before an audit

To change the authority: --new-authority, give the new caData to every kube-scheduler and the Secrets to the cluster,
then --renew, and remove previous-ca.crt when nobody needs it any more.`,
    )
    .action(async (options) => (await import("../certs.ts")).certs(options));
}

function parseDays(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number of days, from 1 to 99999.");
}
