import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createFunction } from "../extender/function.ts";
import { checkConfiguration } from "../policy/configuration.ts";
import { checkFacts } from "../policy/facts.ts";
import type { Policy } from "../policy/policy.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";
import type { Json } from "../protocol/json.ts";
import { askDecision } from "./decision.ts";
import type { FunctionClient } from "./function-client.ts";
import { readSample } from "./sample.ts";

const price = (type: string, perHour: number) => ({ match: { "node.kubernetes.io/instance-type": type }, perHour });

async function load(plugins: readonly object[]) {
  const profiles = [{ name: "default", plugins }];
  const head = { apiVersion: "berth.dev/v1alpha1" };
  const configuration = checkConfiguration(registry)({ ...head, kind: "PolicyConfiguration", profiles });
  const prices = [price("m7i.large", 1), price("r7i.xlarge", 1)];
  const facts = checkFacts({ ...head, kind: "FleetFacts", prices });
  if (!("value" in configuration && "value" in facts)) throw new Error(JSON.stringify([configuration, facts]));
  return loadPolicies(configuration.value, facts.value, registry);
}

/** A client of a function in this process. */
async function functionOf(plugins: readonly object[]): Promise<{ client: FunctionClient; policy: Policy }> {
  const policies = await load(plugins);
  const app = await createFunction(policies, {
    peer: () => ({ loopback: true }),
    log: () => undefined,
    now: Date.now,
    secret: () => undefined,
    openOnLoopback: true,
  });
  const url = "https://127.0.0.1";
  const client: FunctionClient = {
    url,
    async ask(path, body) {
      const headers = { "Content-Type": "application/json" };
      const sent = body === undefined ? {} : { method: "POST", headers, body: new Uint8Array(Buffer.from(body)) };
      const answer = await app.request(`${url}${path}`, sent);
      const policy = answer.headers.get("Berth-Policy") ?? undefined;
      return { status: answer.status, policy, json: (await answer.json()) as Json };
    },
  };
  const policy = policies.policies.get("default");
  if (!policy) throw new Error("the policy is missing");
  return { client, policy };
}

const AMD64 = {
  name: "NodeLabel",
  args: {
    require: { "kubernetes.io/arch": ["amd64"] },
    prefer: { "topology.kubernetes.io/zone": ["eu-central-1a", "eu-central-1b"] },
  },
};

describe("the decision that npm start shows", () => {
  it("is what the function says of each node: verdict, reason, raw and scaled scores, score on the wire", async () => {
    const { client, policy } = await functionOf([AMD64, { name: "NodeCost", weight: 3 }]);
    const report = await askDecision(client, policy, await readSample());
    expect(report).toMatchObject({ policy: `default@${policy.version}`, pod: "default/checkout-api" });
    const domain = "eu-central-1.compute.internal";
    const label = (score: number | null) => ({ plugin: "NodeLabel", weight: 1, raw: score, scaled: score });
    const cost = (raw: unknown, scaled: number | null) => ({ plugin: "NodeCost", weight: 3, raw, scaled });
    // The pod takes 650m of 1,930m or of 3,920m, at one dollar an hour each.
    const [dear, cheap] = [650 / 1930, 650 / 3920].map((share) => expect.closeTo(share, 9));
    expect(report?.nodes).toEqual([
      { node: `ip-10-44-0-0.${domain}`, verdict: "kept", plugins: [label(100), cost(dear, 0)], score: 3 },
      { node: `ip-10-24-0-1.${domain}`, verdict: "kept", plugins: [label(0), cost(cheap, 100)], score: 8 },
      { node: `ip-10-44-0-2.${domain}`, verdict: "kept", plugins: [label(100), cost(cheap, 100)], score: 10 },
      {
        node: `ip-10-16-0-3.${domain}`,
        verdict: "refused",
        refusal: { plugin: "NodeLabel", reason: "node(s) didn't have a label that the policy requires" },
        plugins: [label(null), cost(null, null)],
        score: 0,
      },
    ]);
  });

  it("is asked for again when the function answers by another policy meanwhile", async () => {
    const { client } = await functionOf([AMD64]);
    const { policy } = await functionOf([{ name: "NodeCost" }]);
    expect(await askDecision(client, policy, await readSample())).toBeUndefined();
  });

  it("is refused in the function's own words when it cannot decide", async () => {
    const { client, policy } = await functionOf([AMD64]);
    const deaf: FunctionClient = {
      ...client,
      ask: async (path, body) => {
        const answer = await client.ask(path, body);
        return path.endsWith("/filter") ? { ...answer, json: { Error: "plugin X failed: it is broken" } } : answer;
      },
    };
    await expect(askDecision(deaf, policy, await readSample())).rejects.toThrow(
      `the function cannot filter by default@${policy.version}: plugin X failed: it is broken`,
    );
  });

  it("is about the request that kube-scheduler 1.37.2 sent, byte for byte", async () => {
    const recorded = readFileSync(new URL("../../test/conformance/v1.37.2/prioritize.nodes.json", import.meta.url));
    expect((await readSample()).body.equals(recorded)).toBe(true);
  });
});
