import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { berth, copyProject, type Project } from "./project.ts";

let project: Project;
beforeAll(async () => {
  project = await copyProject();
});
afterAll(() => project.remove());

describe("the berth command", () => {
  it("works from a checkout through npx, with the Node that npm ci brought", async () => {
    const { stdout } = await promisify(execFile)("npx", ["berth", "--version"], {
      cwd: join(import.meta.dirname, "../.."),
    });
    const { version } = JSON.parse(await readFile(join(project.folder, "package.json"), "utf8"));
    expect(stdout.trim()).toBe(version);
  });

  it.each([["dev"], ["serve"], ["binder"], ["policy"], ["certs"], ["doctor"], ["explain"]])(
    "teaches %s with --help",
    async (command) => {
      const { code, stdout } = await berth(project, [command, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: berth ${command}`);
    },
  );

  it("shows examples where there is something to try", async () => {
    expect((await berth(project, ["dev", "--help"])).stdout).toContain("npm start -- --port 9443");
    expect((await berth(project, ["serve", "--help"])).stdout).toContain("npm run serve");
  });

  it.each([
    [["dev", "--port", "http"], "It must be a number from 0 to 65535."],
    [["dev", "--port", "65536"], "It must be a number from 0 to 65535."],
    [["dev", "--output", "yaml"], "Allowed choices are text, json."],
    [["dev", "--prot", "1"], "Did you mean --port?"],
    [["sreve"], "Did you mean serve?"],
  ])("refuses %j and says what would do", async (args, message) => {
    const { code, stderr } = await berth(project, args);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  it("says before npm ci that npm ci is missing", async () => {
    const bare = await copyProject({ packages: false });
    const { code, stderr } = await berth(bare, ["dev"]);
    await bare.remove();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^this checkout is not set up: run `npm ci` first, .*\n$/);
  });

  it("says that wrangler is missing after an npm ci without development packages", async () => {
    const lean = await copyProject({ without: "wrangler" });
    const { code, stderr } = await berth(lean, ["dev", "--port", "0"]);
    await lean.remove();
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(
      "wrangler is not installed here: run `npm ci`, without leaving out development packages",
    );
  });
});
