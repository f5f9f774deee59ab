import { handle } from "hono/aws-lambda";
import { createFunction } from "../extender/function.ts";
import { jsonLines } from "../extender/log.ts";
import { type CompiledPolicy, loadCompiled } from "../policy/compiled.ts";
import type { AnyPlugin } from "../policy/plugin.ts";
import { lambdaPeer } from "./lambda-peer.ts";
import { nodeSkims } from "./node-skims.ts";
import { readSettings } from "./workers-settings.ts";

/**
 * The most that one invocation takes and gives, in bytes: 6 MB, the event's envelope included (AWS's Lambda quotas,
 * "Invocation payload, synchronous"). What comes near it AWS refuses itself, with 413 and words of its own.
 */
export const LAMBDA_BODY_LIMIT = 6 * 1024 * 1024;

/** A function that Lambda calls with an event of a function URL, an API Gateway or a load balancer. */
export type LambdaHandler = ReturnType<typeof handle>;

/** What the runtime brings. */
export interface LambdaRuntime {
  /** Callers' secrets by their names; BERTH_BODY_LIMIT lowers the limit and cannot raise it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes a line of the log. */
  write(line: string): void;
}

/** The function on AWS Lambda, with any list of plugins, by a policy as `berth policy compile` writes it. */
export async function createLambdaHandler(
  compiled: CompiledPolicy,
  plugins: readonly AnyPlugin[],
  { env, write }: LambdaRuntime,
): Promise<LambdaHandler> {
  const { secret, bodyLimit } = readSettings(env);
  const app = await createFunction(await loadCompiled(compiled, plugins), {
    secret,
    openOnLoopback: false,
    bodyLimit: Math.min(bodyLimit, LAMBDA_BODY_LIMIT),
    peer: lambdaPeer,
    skims: nodeSkims(),
    log: jsonLines(write, Date.now),
    now: Date.now,
  });
  return handle(app);
}
