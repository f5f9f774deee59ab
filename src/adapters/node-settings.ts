import { readFileSync } from "node:fs";
import type { TlsFiles } from "./listener.ts";
import type { PolicyFiles } from "./policy-files.ts";
import { bodyLimit } from "./workers-settings.ts";

/** Where and how the function listens on Node, and what it decides by. */
export interface NodeSettings extends PolicyFiles {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsFiles;
  readonly openOnLoopback: boolean;
  readonly bodyLimit: number;
  readonly secret: (name: string) => string | undefined;
}

/** A setting that makes no sense; the message names it and what it should be. */
export class SettingsError extends Error {}

/**
 * Reads the environment, in this one place: BERTH_CONFIG, BERTH_FACTS, BERTH_LISTEN (`host:port`), BERTH_TLS_CERT,
 * BERTH_TLS_KEY, BERTH_CLIENT_CA (files), BERTH_OPEN, BERTH_BODY_LIMIT, and callers' secrets by their names or from
 * the file that `<NAME>_FILE` names, as mounted secrets are.
 *
 * @throws {SettingsError}
 */
export function readSettings(env: NodeJS.ProcessEnv): NodeSettings {
  const tls = tlsFiles(env);
  return {
    configFile: env["BERTH_CONFIG"] ?? "berth.yaml",
    factsFile: env["BERTH_FACTS"] ?? "facts.json",
    ...address(env["BERTH_LISTEN"] ?? "127.0.0.1:8443"),
    ...(tls && { tls }),
    openOnLoopback: env["BERTH_OPEN"] === "loopback",
    bodyLimit: bodyLimit(env["BERTH_BODY_LIMIT"]),
    secret: (name) => env[name] ?? secretFile(env[`${name}_FILE`]),
  };
}

function address(listen: string): { host: string; port: number } {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(listen) ?? [];
  if (!host || Number(port) > 65535) throw new SettingsError(`BERTH_LISTEN must be host:port, not ${listen}`);
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

function tlsFiles(env: NodeJS.ProcessEnv): TlsFiles | undefined {
  const { BERTH_TLS_CERT: certFile, BERTH_TLS_KEY: keyFile, BERTH_CLIENT_CA: clientCaFile } = env;
  if (!certFile && !keyFile && !clientCaFile) return undefined;
  if (!certFile || !keyFile) throw new SettingsError("BERTH_TLS_CERT and BERTH_TLS_KEY go together: set both");
  return { certFile, keyFile, ...(clientCaFile && { clientCaFile }) };
}

/** Secret files end with the newline of the editor that wrote them. */
function secretFile(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, "utf8").trimEnd();
}
