import { expect } from "vitest";
import { registry } from "../policy/registry.ts";
import { createFunctionClient } from "./client.ts";
import { afterTest, type FakeFunction, logged } from "./function-fixture.ts";
import { type PolicySource, type SourceOptions, startPolicySource } from "./source.ts";

/** The profile `default` of a function, followed. */
export interface Followed {
  readonly source: PolicySource;
  readonly lines: readonly string[];
  /** Every version that came into force. */
  readonly versions: string[];
  version(): string | undefined;
  problem(): string | undefined;
}

/** Follows it until the test is over. */
export async function follow(
  url: string,
  more: Partial<SourceOptions & { token: () => string }> = {},
): Promise<Followed> {
  const { token = () => "a-bearer-token-of-tests", ...options } = more;
  const client = createFunctionClient({ url, token, versionKey: "tests" });
  const { log, lines } = logged();
  const source = await startPolicySource({
    client,
    profiles: ["default"],
    plugins: registry,
    every: 15,
    log,
    ...options,
  });
  afterTest(async () => {
    await source.stop();
    await client.close();
  });
  const versions: string[] = [];
  source.subscribe((_, now) => void versions.push(now.policy.version));
  const version = () => source.current("default")?.policy.version;
  return { source, lines, versions, version, problem: () => source.states()[0]?.problem };
}

/** Waits until the function was asked so many times more. */
export async function askedAgain({ asked }: FakeFunction, times = 3): Promise<void> {
  const until = asked.length + times;
  await expect.poll(() => asked.length).toBeGreaterThanOrEqual(until);
}
