import { type FunctionSettings, readFunctionSettings } from "./function-settings.ts";

/** What is decided in the shadow of the policies in force. */
export interface ShadowSettings {
  /** The profile in the shadow, by the profile in force. */
  readonly profiles: ReadonlyMap<string, string>;
  /** Where the profiles in the shadow come from; absent: they are among the binder's own. */
  readonly function?: FunctionSettings;
}

const PAIR = /^([a-z0-9][-a-z0-9]*)=([a-z0-9][-a-z0-9]*)$/;

/**
 * Reads BERTH_SHADOW_PROFILE (`profile=shadow`, several with commas) and BERTH_SHADOW_URL, with BERTH_SHADOW_TOKEN or
 * _TOKEN_FILE and BERTH_SHADOW_CA. With a URL alone, each profile of BERTH_FUNCTION_PROFILES has its namesake there in
 * its shadow.
 *
 * @returns undefined when neither is set, or a sentence for each setting that makes no sense
 */
export function readShadowSettings(
  env: NodeJS.ProcessEnv,
): { readonly value: ShadowSettings | undefined } | { readonly problems: readonly string[] } {
  const { BERTH_SHADOW_PROFILE: pairs, BERTH_SHADOW_URL: url } = env;
  if (!pairs && !url) return { value: undefined };
  const own = (env["BERTH_FUNCTION_PROFILES"] ?? "").split(",").map((name) => name.trim());
  const profiles = pairs ? readPairs(pairs) : new Map(own.map((name) => [name, name]));
  if (profiles === undefined) {
    return {
      problems: [`BERTH_SHADOW_PROFILE must pair profiles, such as gpu=gpu-trial, not ${JSON.stringify(pairs)}`],
    };
  }
  if (!url) return { value: { profiles } };
  const read = readFunctionSettings(functionEnv(env, [...new Set(profiles.values())]));
  if ("problems" in read)
    return { problems: read.problems.map((each) => each.replaceAll("BERTH_FUNCTION", "BERTH_SHADOW")) };
  return { value: { profiles, ...(read.value && { function: read.value }) } };
}

function readPairs(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = text.split(",").map((pair) => PAIR.exec(pair.trim()));
  return pairs.includes(null) ? undefined : new Map(pairs.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""]));
}

/** The settings of the function in force, with those of the other in their places. Its policies are not kept on disk. */
function functionEnv(env: NodeJS.ProcessEnv, profiles: readonly string[]): NodeJS.ProcessEnv {
  return {
    ...env,
    BERTH_POLICY_CACHE: undefined,
    BERTH_FUNCTION_PROFILES: profiles.join(","),
    BERTH_FUNCTION_URL: env["BERTH_SHADOW_URL"],
    BERTH_FUNCTION_TOKEN: env["BERTH_SHADOW_TOKEN"],
    BERTH_FUNCTION_TOKEN_FILE: env["BERTH_SHADOW_TOKEN_FILE"],
    BERTH_FUNCTION_CA: env["BERTH_SHADOW_CA"] ?? env["BERTH_FUNCTION_CA"],
  };
}
