import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import type { Configuration } from "../../src/policy/configuration.ts";
import { type AnyPlugin, definePlugin } from "../../src/policy/plugin.ts";
import { nodeAllocatable } from "../../src/policy/views/allocatable.ts";
import { nodeAnnotations } from "../../src/policy/views/labels.ts";
import { args, JSON_BODY, nodeText } from "./fixtures.ts";
import { AS_A } from "./secrets.ts";
import type { Target } from "./target.ts";
import { type Witness, witness as watch } from "./witness.ts";

const common = { version: 1, doc: "For tests.", maturity: "alpha", args: z.strictObject({}) } as const;

/** Scores as LeastAllocated does: what is left of a node's CPU, in percent. */
const leastLoaded = definePlugin({
  ...common,
  name: "LeastLoaded",
  scale: "none",
  reads: () => ({ node: { load: nodeAnnotations(["load"]) } }),
  prepare: () => ({ score: ({ load }) => 100 - Number(load["load"]) }),
});

/** A plugin with a bug, in the place that its arguments name. */
const broken = definePlugin({
  ...common,
  name: "Broken",
  scale: "none",
  args: z.strictObject({ where: z.enum(["prepare", "filter", "score"]) }),
  reads: () => ({ node: { allocatable: nodeAllocatable } }),
  prepare: ({ where }) => {
    const fail = (place: string) => {
      if (place === where) throw new Error("inventory missing");
    };
    fail("prepare");
    return {
      filter: () => void fail("filter") as undefined,
      score: () => {
        fail("score");
        return 1;
      },
    };
  },
});

/** The plugins of this suite, which no registry has. */
export const testPlugins: readonly AnyPlugin[] = [leastLoaded, broken];

const brokenIn = (where: string) => ({
  name: `broken-${where}`,
  plugins: [{ name: "Broken", weight: 1, args: { where } }],
});

/** Profiles of those plugins. */
export const testConfiguration: Configuration = {
  apiVersion: "berth.dev/v1alpha1",
  kind: "PolicyConfiguration",
  profiles: [
    { name: "load", plugins: [{ name: "LeastLoaded", weight: 1, args: {} }] },
    ...["prepare", "filter", "score"].map(brokenIn),
  ],
  callers: [
    {
      name: "cluster-a",
      credentials: [{ bearer: "CLUSTER_A_TOKEN" }],
      profiles: ["load", "broken-prepare", "broken-filter", "broken-score"],
    },
  ],
} as Configuration;

/** What the function promises whatever plugins it has, on hosts that can be given other plugins. */
export function pluginSuite(runtime: string, start: () => Promise<Target>): void {
  describe(`plugins ${runtime}`, () => {
    let watched: Witness;
    beforeAll(async () => {
      watched = watch(await start());
    });
    afterAll(() => watched?.target.stop());

    const ask = (path: string, body: string) => watched.ask(path, { headers: { ...AS_A, ...JSON_BODY }, body });
    const one = args({ nodes: [nodeText("n1"), nodeText("n2")] });

    it("are scored from 0 to 100 and come out as 0 to 10, best first (kubernetes #81281)", async () => {
      const node = (load: number) => `{"metadata":{"name":"load-${load}","annotations":{"load":"${load}"}}}`;
      const { json } = await ask("/load/prioritize", args({ nodes: [node(10), node(50), node(90)] }));
      expect(json).toEqual([
        { Host: "load-10", Score: 9 },
        { Host: "load-50", Score: 5 },
        { Host: "load-90", Score: 1 },
      ]);
    });

    it.each(["prepare", "filter"])(
      "that throw in %s are named in Error, with the cause (tidb-operator #1346)",
      async (where) => {
        const { status, headers, json } = await ask(`/broken-${where}/filter`, one);
        expect(status).toBe(200);
        expect(json).toMatchObject({ Nodes: null, Error: "plugin Broken failed: inventory missing" });
        await vi.waitFor(() => {
          const request = headers.get("berth-request");
          const lines = watched.lines().filter((each) => each["request"] === request);
          expect(lines).toMatchObject([
            { level: "error", message: "decision", verb: "filter", error: "plugin Broken failed: inventory missing" },
          ]);
        });
      },
    );

    it.each(["prepare", "filter", "score"])(
      "that throw in %s leave prioritize with zeros, and are counted",
      async (where) => {
        const before = (await watched.ask("/healthz")).json.prioritizeGaveZeros;
        const { status, json } = await ask(`/broken-${where}/prioritize`, one);
        expect(status).toBe(200);
        expect(json).toEqual([
          { Host: "n1", Score: 0 },
          { Host: "n2", Score: 0 },
        ]);
        expect((await watched.ask("/healthz")).json.prioritizeGaveZeros).toBe(before + 1);
      },
    );

    it("that throw only when they score let filter answer", async () => {
      expect((await ask("/broken-score/filter", one)).json.Nodes.items).toHaveLength(2);
    });

    it("that throw make evaluate a failure of the server, named", async () => {
      const facts = { nodeAllocatable: { cpu: "1000" } };
      const question = JSON.stringify({ protocol: 1, pod: {}, nodes: [facts] });
      const { status, json } = await ask("/broken-score/evaluate", question);
      expect(status).toBe(500);
      expect(json).toEqual({ error: "plugin Broken failed: inventory missing" });
    });

    it("show no secret and no stack trace when they throw", () => {
      expect(watched.lines().length).toBeGreaterThan(5);
      expect(watched.leaks()).toEqual([]);
    });
  });
}
