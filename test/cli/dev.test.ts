import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { eventually } from "../controlplane/eventually.ts";
import { freePort } from "../controlplane/ports.ts";
import { berth, copyProject, type Project, processesWith } from "./project.ts";
import { askSession, nothingLeft, SLOW, startDev } from "./session.ts";

let project: Project;
beforeAll(async () => {
  project = await copyProject();
});
afterAll(() => project.remove());

/** What stays in .berth between sessions. */
const KEPT = [".gitignore", "ca.crt", "ca.key", "server.crt", "server.key"];

const ca = () => readFile(join(project.folder, ".berth/ca.crt"), "utf8");

describe("npm start", () => {
  it(
    "shows a decision and the extenders block, follows the files, and leaves nothing behind at Ctrl-C",
    async () => {
      const session = await startDev(project);
      await session.sees("Serving until Ctrl-C");
      const first = session.logs();
      const policy = /policy (default@[0-9a-f]{12}); answered in \d+ ms/.exec(first)?.[1];

      const rows = first.split("\n").filter((line) => line.startsWith("│"));
      expect(
        rows.map((row) =>
          row
            .split("│")
            .map((cell) => cell.trim())
            .slice(1, -1),
        ),
      ).toEqual([
        ["node", "verdict", "reason", "NodeLabel ×1", "NodeCost ×3", "score"],
        ["ip-10-44-0-2.eu-central-1.compute.internal", "kept", "", "100 → 100", "0.0186 → 100", "10"],
        ["ip-10-24-0-1.eu-central-1.compute.internal", "kept", "", "0 → 0", "0.023 → 80", "6"],
        ["ip-10-44-0-0.eu-central-1.compute.internal", "kept", "", "100 → 100", "0.0407 → 0", "3"],
        [
          "ip-10-16-0-3.eu-central-1.compute.internal",
          "refused",
          "NodeLabel: node(s) didn't have a label that the policy requires",
          "",
          "",
          "0",
        ],
      ]);

      const block = parse(first.slice(first.indexOf("# For kube-scheduler"), first.indexOf("Serving until")));
      expect(block.extenders[0].urlPrefix).toBe(`https://127.0.0.1:${session.port}/default`);
      const trusted = Buffer.from(block.extenders[0].tlsConfig.caData, "base64").toString();
      expect(trusted).toBe(await ca());
      const answer = await askSession(session.port, trusted);
      expect(answer).toMatchObject({ status: 200, policy });
      expect(first).toContain(`SHA-256 ${answer.presented}`);
      await expect(askSession(session.port)).rejects.toThrow("unable to verify the first certificate");

      await project.edit("facts.json", (facts) => facts.replace("0.1387", "0.0387"));
      await session.sees(/answered in.*answered in/s);
      const second = session.logs().slice(first.length);
      expect(second).toMatch(/ip-10-24-0-1\S* +│ kept +│ +│ +0 → 0 │ +0.00642 → 100 │ +8 │/);
      const changed = /policy (default@\w+);/.exec(second)?.[1];
      expect(changed).not.toBe(policy);
      expect(second).not.toContain("extenders:");

      await project.edit("facts.json", (facts) => facts.replace('"USD"', "7"));
      await project.edit("berth.yaml", (config) => config.replace("weight: 3", "weight: 0"));
      await session.sees(
        /berth.yaml:\d+:\d+ profiles\[0\].plugins\[1\].weight: .*\nfacts.json:4:15 currency: must be a text/,
      );
      await session.sees(`Still in force: policy ${changed}.`);
      expect(
        await eventually("the function answers", async () => await askSession(session.port, await ca())),
      ).toMatchObject({
        status: 200,
        policy: changed,
      });

      await project.edit("facts.json", (facts) => facts.replace('"currency": 7', '"currency": "USD"'));
      await project.edit("berth.yaml", (config) => config.replace("weight: 0", "weight: 5"));
      await session.sees(/NodeCost ×5.*answered in/s);

      await project.edit("berth.yaml", (config) => config.replace("weight: 5", "weight: 6"));
      await project.edit("berth.yaml", (config) => config.replace("weight: 6", "weight: 7"));
      await session.sees(/NodeCost ×7.*answered in/s);
      expect(session.logs()).not.toContain("NodeCost ×6");

      process.kill(session.pid, "SIGINT");
      expect(await session.exited).toEqual({ code: 0, signal: null });
      await nothingLeft(session);
      expect((await readdir(join(project.folder, ".berth"))).sort()).toEqual(KEPT);
    },
    SLOW,
  );

  it(
    "shows what was changed while it started, also just after wrangler's first build",
    async () => {
      const compiled = join(project.folder, "dist/policy.json");
      await rm(compiled, { force: true });
      const session = await startDev(project);
      await eventually("the first build is done", async () => existsSync(compiled), { within: 120_000 });
      await project.edit("berth.yaml", (config) => config.replace("weight: 7", "weight: 8"));
      await session.sees(/NodeCost ×8.*answered in/s);
      process.kill(session.pid, "SIGINT");
      await session.exited;
      await nothingLeft(session);
    },
    SLOW,
  );

  it(
    "gives its decision as JSON for scripts, two at once, under the same certificate after a restart",
    async () => {
      const before = new X509Certificate(await readFile(join(project.folder, ".berth/server.crt")));
      const decide = async () => {
        const port = await freePort();
        const run = await berth(project, ["dev", "--once", "--output", "json", "--port", String(port)]);
        expect(run.code, run.stderr).toBe(0);
        expect(run.stderr).toContain(`certificate kept in .berth/, SHA-256 ${before.fingerprint256}`);
        expect(JSON.parse(run.stdout)).toMatchObject({
          url: `https://127.0.0.1:${port}`,
          caFile: ".berth/ca.crt",
          pod: "default/checkout-api",
          nodes: [{ verdict: "kept" }, { verdict: "kept" }, { verdict: "kept" }, { verdict: "refused", score: 0 }],
        });
        expect(await processesWith(String(port))).toEqual([]);
      };
      await Promise.all([decide(), decide()]);
    },
    SLOW,
  );
});
