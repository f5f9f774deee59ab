import { readFileSync } from "node:fs";
import { FunctionError } from "../remote/client-errors.ts";
import { whyUnread } from "../remote/file-errors.ts";

/** The function whose policies the binder decides by. */
export interface FunctionSettings {
  readonly url: string;
  /** Read for every request, from its file when it is in one. */
  readonly token: () => string | undefined;
  /** A file with the authorities that the function's certificate is verified with. */
  readonly caFile?: string;
  readonly profiles: readonly string[];
  /** Between pulls, in milliseconds. */
  readonly every: number;
  /** How long a pod waits for the function where it has to be asked, in milliseconds. */
  readonly deadline: number;
  /** A directory for the last good policies. */
  readonly keptIn?: string;
  /** The same for all that place pods in one cluster. */
  readonly versionKey: string;
}

const DEFAULT_SECONDS = "3";

/** kube-scheduler waits five seconds for the binder unless it is told otherwise. */
const DEFAULT_DEADLINE_MS = "1000";

/**
 * Reads BERTH_FUNCTION_URL and, when it is set, BERTH_FUNCTION_PROFILES, BERTH_FUNCTION_TOKEN or _TOKEN_FILE,
 * BERTH_FUNCTION_CA, BERTH_FUNCTION_SECONDS, BERTH_FUNCTION_DEADLINE_MS, BERTH_POLICY_CACHE and BERTH_CLUSTER.
 *
 * @returns undefined without a URL, or a sentence for each setting that makes no sense
 */
export function readFunctionSettings(
  env: NodeJS.ProcessEnv,
): { readonly value: FunctionSettings | undefined } | { readonly problems: readonly string[] } {
  const { BERTH_FUNCTION_URL: url, BERTH_FUNCTION_CA: caFile, BERTH_POLICY_CACHE: keptIn } = env;
  if (!url) return strays(env);
  const profiles = (env["BERTH_FUNCTION_PROFILES"] ?? "").split(",").map((name) => name.trim());
  const seconds = env["BERTH_FUNCTION_SECONDS"] ?? DEFAULT_SECONDS;
  const deadline = env["BERTH_FUNCTION_DEADLINE_MS"] ?? DEFAULT_DEADLINE_MS;
  const problems = [
    urlProblem(url),
    profilesProblem(profiles),
    secondsProblem(seconds),
    deadlineProblem(deadline),
    tokenProblem(url, env),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) return { problems };
  const value = {
    url,
    token: tokenOf(env),
    profiles,
    every: Number(seconds) * 1000,
    deadline: Number(deadline),
    versionKey: env["BERTH_CLUSTER"] || "cluster",
    ...(caFile && { caFile }),
    ...(keptIn && { keptIn }),
  };
  return { value };
}

/** Half of the settings is a mistake: the policy would silently be another one. */
function strays(env: NodeJS.ProcessEnv) {
  const names = ["BERTH_FUNCTION_PROFILES", "BERTH_FUNCTION_TOKEN", "BERTH_FUNCTION_TOKEN_FILE", "BERTH_FUNCTION_CA"];
  const set = names.filter((name) => env[name]);
  if (set.length === 0) return { value: undefined };
  return { problems: [`${set.join(", ")} ${set.length > 1 ? "need" : "needs"} BERTH_FUNCTION_URL: set it too`] };
}

function urlProblem(text: string): string | undefined {
  const shape = "must be the function's URL without a profile, such as https://berth.example.com";
  const url = URL.parse(text);
  // Not with the text: it may hold a secret.
  if (!url) return `BERTH_FUNCTION_URL ${shape}`;
  if (url.username || url.password) return "BERTH_FUNCTION_URL must not hold a secret: use BERTH_FUNCTION_TOKEN";
  if (url.search || url.hash) return `BERTH_FUNCTION_URL ${shape}, without ? and #`;
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))) return undefined;
  return "BERTH_FUNCTION_URL must be https: a token and a policy travel there (http is for this machine only)";
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function profilesProblem(profiles: readonly string[]): string | undefined {
  const strange = profiles.find((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (strange === undefined) return undefined;
  return `BERTH_FUNCTION_PROFILES must be the names of profiles, such as gpu,batch, not ${JSON.stringify(strange)}`;
}

function secondsProblem(seconds: string): string | undefined {
  if (/^\d{1,3}(\.\d+)?$/.test(seconds) && Number(seconds) >= 0.1 && Number(seconds) <= 300) return undefined;
  return `BERTH_FUNCTION_SECONDS must be a number of seconds from 0.1 to 300, such as 3, not ${JSON.stringify(seconds)}`;
}

function deadlineProblem(deadline: string): string | undefined {
  if (/^\d{2,4}$/.test(deadline) && Number(deadline) >= 50 && Number(deadline) <= 4_000) return undefined;
  return `BERTH_FUNCTION_DEADLINE_MS must be a whole number from 50 to 4000, such as 1000, not ${JSON.stringify(deadline)}`;
}

function tokenProblem(url: string, env: NodeJS.ProcessEnv): string | undefined {
  const { BERTH_FUNCTION_TOKEN: token, BERTH_FUNCTION_TOKEN_FILE: file } = env;
  if (token && file) return "BERTH_FUNCTION_TOKEN and BERTH_FUNCTION_TOKEN_FILE exclude each other: set one";
  if (token || file || URL.parse(url)?.protocol === "http:") return undefined;
  return "BERTH_FUNCTION_TOKEN_FILE (or BERTH_FUNCTION_TOKEN) is missing: the secret of a bearer credential of the function";
}

/** A mounted secret is replaced in place, so its file is read again whenever it is used. */
function tokenOf(env: NodeJS.ProcessEnv): () => string | undefined {
  const { BERTH_FUNCTION_TOKEN: token, BERTH_FUNCTION_TOKEN_FILE: file } = env;
  if (!file) return () => token;
  return () => {
    try {
      return readFileSync(file, "utf8").trim();
    } catch (error) {
      const why = `${whyUnread(error)}; it has to hold the function's bearer token`;
      throw new FunctionError(`BERTH_FUNCTION_TOKEN_FILE names ${file}, which cannot be read: ${why}`);
    }
  };
}
