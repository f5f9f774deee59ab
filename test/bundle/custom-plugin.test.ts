import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";

const example = fileURLToPath(new URL("../../examples/custom-plugin/", import.meta.url));
const wrangler = fileURLToPath(new URL("../../node_modules/wrangler/bin/wrangler.js", import.meta.url));
const out = await mkdtemp(join(tmpdir(), "berth-custom-plugin-"));
afterAll(() => rm(out, { recursive: true }));

describe("the example of a function with a plugin of one's own", () => {
  it("is bundled for Workers with its plugin and its policy", async () => {
    const bin = fileURLToPath(new URL("../../node_modules/.bin", import.meta.url));
    await promisify(execFile)(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", out], {
      cwd: example,
      env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}`, WRANGLER_SEND_METRICS: "false" },
    });
    const code = await readFile(join(out, "worker.js"), "utf8");
    expect(code).toContain("node(s) were too far from the pod's partner");
    expect(code).toContain("CLUSTER_A_TOKEN");
  }, 120_000);
});
