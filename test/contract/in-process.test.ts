import compiled from "#policy" with { type: "json" };
import type { Peer } from "../../src/extender/callers.ts";
import { createFunction } from "../../src/extender/function.ts";
import { jsonLines } from "../../src/extender/log.ts";
import { loadCompiled } from "../../src/policy/compiled.ts";
import { loadPolicies, type PolicySet } from "../../src/policy/profile.ts";
import { registry } from "../../src/policy/registry.ts";
import { contractSuite } from "./contract.ts";
import { pluginSuite, testConfiguration, testPlugins } from "./plugins.ts";
import { SECRETS } from "./secrets.ts";
import { type Call, requestInit, type Settings, type Target } from "./target.ts";

const BASE = "https://berth.example";

/** What a runtime would say of a call's client. */
function peerOf({ certificate, from }: Call): Peer {
  return {
    loopback: from !== "elsewhere",
    ...(certificate === "cluster-a" && {
      certificate: { names: ["scheduler.cluster-a.example"], sha256: "0".repeat(64) },
    }),
  };
}

async function call(policies: PolicySet, { secrets, open }: Settings): Promise<Target> {
  const lines: string[] = [];
  const app = await createFunction(policies, {
    secret: (name) => secrets[name],
    openOnLoopback: open === "loopback",
    peer: (_, env) => env as Peer,
    log: jsonLines((line) => lines.push(line), Date.now),
    now: Date.now,
  });
  return {
    base: BASE,
    fetch: async (path, call = {}) => app.fetch(new Request(BASE + path, requestInit(call)), peerOf(call)),
    logs: () => lines.join("\n"),
    stop: async () => undefined,
  };
}

contractSuite("called in process", async (settings) => call(await loadCompiled(compiled, registry), settings), {
  connections: false,
  distance: true,
});

const facts = { apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts" } as const;
pluginSuite("called in process", async () =>
  call(await loadPolicies(testConfiguration, facts, testPlugins), { secrets: SECRETS }),
);
