import compiled from "#policy" with { type: "json" };
import { registry } from "../policy/registry.ts";
import { createLambdaHandler, type LambdaHandler } from "./lambda-handler.ts";
import { lambdaRuntime } from "./lambda-settings.ts";

let started: Promise<LambdaHandler> | undefined;

/** The function on AWS Lambda: started by the first event, the same for all that follow. */
export const handler: LambdaHandler = async (event, context) => {
  started ??= createLambdaHandler(compiled, registry, lambdaRuntime());
  return (await started)(event, context);
};
