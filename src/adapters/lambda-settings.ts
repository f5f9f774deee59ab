import type { LambdaRuntime } from "./lambda-handler.ts";

/** The environment of this Lambda function, and its log, which is standard output. */
export function lambdaRuntime(): LambdaRuntime {
  return { env: process.env, write: (line) => void process.stdout.write(`${line}\n`) };
}
