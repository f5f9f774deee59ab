import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localAuthority } from "../../src/cli/local-authority.ts";
import { eventually } from "../controlplane/eventually.ts";
import { startProcess } from "../controlplane/process.ts";
import { copyProject, type Project, processesWith } from "./project.ts";
import { nothingLeft, SLOW, startDev, startSession, withTakenPort } from "./session.ts";

let project: Project;
beforeAll(async () => {
  project = await copyProject();
  await localAuthority(join(project.folder, ".berth"), ["127.0.0.1"]);
});
afterAll(() => project.remove());

describe("npm start", () => {
  it.each([
    ["SIGTERM", "before it has said a word", "node src/cli/berth.js"],
    ["SIGTERM", "while wrangler starts", "[custom build]"],
    ["SIGINT", "while wrangler starts", "[custom build]"],
    ["SIGINT", "while it serves", "Serving until Ctrl-C"],
  ] as const)(
    "leaves nothing behind when npm alone is ended by %s %s",
    async (signal, _, seen) => {
      const session = await startSession(project, "npm", ["start", "--", "--verbose"]);
      await session.sees(seen);
      process.kill(session.pid, signal);
      await eventually("npm has ended", () => session.exit());
      await nothingLeft(session);
    },
    SLOW,
  );

  it(
    "leaves nothing behind when it is killed",
    async () => {
      const session = await startDev(project, "--verbose");
      await session.sees("[custom build]");
      process.kill(session.pid, "SIGKILL");
      await session.exited;
      await nothingLeft(session);
    },
    SLOW,
  );

  it(
    "says so when wrangler ends by itself",
    async () => {
      const session = await startDev(project, "--verbose");
      await session.sees("[custom build]");
      const wrangler = (await processesWith(String(session.port))).find(
        ({ parent, args }) => parent === session.pid && args.includes("wrangler.js dev"),
      );
      process.kill(Number(wrangler?.pid), "SIGKILL");
      expect(await session.exited).toEqual({ code: 1, signal: null });
      expect(session.logs()).toContain("wrangler's dev server ended by itself (SIGKILL)");
      await nothingLeft(session);
    },
    SLOW,
  );

  it(
    "names a port that somebody takes just before wrangler does",
    async () => {
      const script = `
      const { startWrangler } = await import(${JSON.stringify(join(project.folder, "src/cli/wrangler.ts"))});
      const [certFile, keyFile] = [".berth/server.crt", ".berth/server.key"];
      const wrangler = startWrangler({ port: Number(process.argv[1]), certFile, keyFile, onLine() {} });
      console.log((await wrangler.ended).message);
      await wrangler.stop();`;
      await withTakenPort(async (port) => {
        const args = ["--input-type=module", "-e", script, String(port)];
        const folder = project.folder;
        const racing = startProcess({ name: "race", command: process.execPath, args, folder, cwd: folder });
        await racing.exited;
        expect(racing.logs()).toContain(`port ${port} of 127.0.0.1 is taken: stop the program that listens there`);
      });
    },
    SLOW,
  );
});
