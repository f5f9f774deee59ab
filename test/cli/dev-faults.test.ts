import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { berth, copyProject, type Project } from "./project.ts";
import { withTakenPort } from "./session.ts";

describe("npm start says in one message", () => {
  let project: Project;
  beforeAll(async () => {
    project = await copyProject();
  });
  afterAll(() => project.remove());

  it("which port is taken and how to choose another", async () => {
    await withTakenPort(async (port) => {
      const { code, stderr } = await berth(project, ["dev", "--port", String(port)]);
      expect(code).toBe(1);
      expect(stderr.trimEnd().split("\n").at(-1)).toBe(
        `port ${port} of 127.0.0.1 is taken: stop the program that listens there, or choose another with --port, ` +
          "such as `npm start -- --port 8787`",
      );
    });
  });

  it("that a profile is not there", async () => {
    const { code, stderr } = await berth(project, ["dev", "--profile", "batch"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "berth.yaml has no profile batch: it has default\n" });
  });

  it("every fault of both files with path and line", async () => {
    const config = await project.edit("berth.yaml", (text) => text.replace("name: NodeCost", "name: NodeCots"));
    const facts = await project.edit("facts.json", (text) => text.replace(/(?<="perHour": )[\d.]+/, '"cheap"'));
    const { code, stderr } = await berth(project, ["dev"]);
    expect(code).toBe(1);
    expect(stderr.split("\n")).toEqual([
      expect.stringMatching(`^berth.yaml:${config}:15 profiles\\[0\\].plugins\\[1\\].name: .*NodeCost`),
      expect.stringMatching(`^facts.json:${facts}:\\d+ prices\\[0\\].perHour: must be a number`),
      "",
    ]);
  });

  it("which file is missing", async () => {
    await project.edit("berth.yaml", (text) => text.replace("NodeCots", "NodeCost"));
    await rm(join(project.folder, "facts.json"));
    const { code, stderr } = await berth(project, ["dev"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "facts.json: there is no such file\n" });
  });
});
