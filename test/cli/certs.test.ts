import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { berth } from "./project.ts";

const project = { folder: join(import.meta.dirname, "..", "..") } as Parameters<typeof berth>[0];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-certs-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("berth certs", () => {
  const run = (...args: string[]) => berth(project, ["certs", "--folder", folder, ...args]);

  it("makes certificates, says what they are for and shows no key", async () => {
    const { code, stdout } = await run("--name", "10.0.0.5", "berth.example.com");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^made {2}server {5}.*server\.crt, until \d{4}-\d\d-\d\d for 10\.0\.0\.5, berth\.example\.com$/m,
    );
    expect(stdout).toContain(`kubectl apply -f ${join(folder, "secrets.yaml")}`);
    const [, caData = ""] = /^ {2}caData: (\S+)$/m.exec(stdout) ?? [];
    expect(Buffer.from(caData, "base64").toString()).toBe(await readFile(join(folder, "ca.crt"), "utf8"));
    expect(stdout).not.toContain("PRIVATE");
    expect((await stat(join(folder, "secrets.yaml"))).mode & 0o777).toBe(0o600);
  });

  it("keeps them when it runs again, and tells so as JSON", async () => {
    const { stdout } = await run("--name", "10.0.0.5", "berth.example.com", "--output", "json");
    expect(JSON.parse(stdout)).toMatchObject({
      authority: { made: false },
      server: { made: false, names: ["10.0.0.5", "berth.example.com"] },
      client: { made: false, name: "kube-scheduler" },
    });
    expect(stdout).not.toContain("PRIVATE");
  });

  it.each([
    [["--name", "https://berth.example.com"], "is neither a DNS name nor an IP address"],
    [["--days", "0"], "It must be a number of days"],
    [["--client", ""], "the client name has 0 characters"],
  ])("refuses %j", async (args, message) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });
});
