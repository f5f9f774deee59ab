import { Command } from "commander";

/** `berth serve`: the function on Node. */
export function serveCommand(): Command {
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
  BERTH_PLUGINS     a file that exports your own list of plugins (docs/policies.md), Berth's when not set
  BERTH_BODY_LIMIT  largest request in bytes, 33554432 (32 MiB) when not set
  BERTH_OPEN        "loopback" lets whoever calls from this machine in without a credential
  <NAME>            a secret that berth.yaml names; or <NAME>_FILE, the file that holds it

Example, with the certificate that \`berth dev\` has made and a secret for the caller in berth.yaml:
  CLUSTER_A_PATH=$(openssl rand -hex 16) BERTH_TLS_CERT=.berth/server.crt BERTH_TLS_KEY=.berth/server.key npm run serve`,
    )
    .action(async () => (await import("../serve.ts")).serve());
}
