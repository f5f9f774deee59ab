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

/** Settings that make no sense; the message has a line for each, with its name and what it should be. */
export class SettingsError extends Error {}

/**
 * Reads the environment, in this one place: BERTH_CONFIG, BERTH_FACTS, BERTH_LISTEN (`host:port`), BERTH_TLS_CERT,
 * BERTH_TLS_KEY, BERTH_CLIENT_CA (files), BERTH_OPEN, BERTH_BODY_LIMIT, and callers' secrets by their names or from
 * the file that `<NAME>_FILE` names, as mounted secrets are.
 *
 * @throws {SettingsError} with every fault; the function for secrets throws it for a file that cannot be read
 */
export function readSettings(env: NodeJS.ProcessEnv): NodeSettings {
  const problems = [tlsProblem(env), openProblem(env["BERTH_OPEN"]), limitProblem(env["BERTH_BODY_LIMIT"])];
  const address = parseAddress(env["BERTH_LISTEN"] ?? "127.0.0.1:8443");
  const faults = [...("problem" in address ? [address.problem] : []), ...problems.filter((each) => each !== undefined)];
  if ("problem" in address || faults.length > 0) throw new SettingsError(faults.join("\n"));
  const tls = tlsFiles(env);
  return {
    configFile: env["BERTH_CONFIG"] ?? "berth.yaml",
    factsFile: env["BERTH_FACTS"] ?? "facts.json",
    ...address,
    ...(tls && { tls }),
    openOnLoopback: env["BERTH_OPEN"] === "loopback",
    bodyLimit: bodyLimit(env["BERTH_BODY_LIMIT"]),
    secret: (name) => env[name] ?? readSecret(`${name}_FILE`, env[`${name}_FILE`]),
  };
}

function parseAddress(listen: string): { host: string; port: number } | { problem: string } {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(listen) ?? [];
  if (!host || Number(port) > 65_535) {
    return { problem: `BERTH_LISTEN must be host:port, such as 0.0.0.0:8443, not ${JSON.stringify(listen)}` };
  }
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

function tlsProblem({ BERTH_TLS_CERT: cert, BERTH_TLS_KEY: key, BERTH_CLIENT_CA: ca }: NodeJS.ProcessEnv) {
  if (Boolean(cert) !== Boolean(key)) return "BERTH_TLS_CERT and BERTH_TLS_KEY go together: set both";
  return ca && !cert ? "BERTH_CLIENT_CA needs BERTH_TLS_CERT and BERTH_TLS_KEY: set them too" : undefined;
}

/** A setting that opens doors must not be misread, in neither direction. */
function openProblem(open: string | undefined): string | undefined {
  if (open === undefined || open === "" || open === "loopback") return undefined;
  return `BERTH_OPEN must be "loopback" or not set, not ${JSON.stringify(open)}`;
}

function limitProblem(limit: string | undefined): string | undefined {
  if (limit === undefined || bodyLimit(limit) === Number(limit)) return undefined;
  return `BERTH_BODY_LIMIT must be a number of bytes, such as 33554432, not ${JSON.stringify(limit)}`;
}

function tlsFiles({
  BERTH_TLS_CERT: certFile,
  BERTH_TLS_KEY: keyFile,
  BERTH_CLIENT_CA: clientCaFile,
}: NodeJS.ProcessEnv) {
  return certFile && keyFile ? { certFile, keyFile, ...(clientCaFile && { clientCaFile }) } : undefined;
}

/** Secret files end with the newline of the editor that wrote them. */
function readSecret(setting: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8").trimEnd();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : `the system answered ${code}`;
    throw new SettingsError(`${setting} names ${file}, which cannot be read: ${why}`);
  }
}
