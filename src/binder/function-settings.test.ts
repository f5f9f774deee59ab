import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readFunctionSettings } from "./function-settings.ts";

const enough = {
  BERTH_FUNCTION_URL: "https://berth.example.com",
  BERTH_FUNCTION_PROFILES: "main, gpu",
  BERTH_FUNCTION_TOKEN: "a-secret-of-many-letters",
};

function problemsOf(change: NodeJS.ProcessEnv): string {
  const read = readFunctionSettings({ ...enough, ...change });
  return "problems" in read ? read.problems.join("\n") : "";
}

describe("the settings of a function", () => {
  it("are none when nothing is set, and a mistake when the URL alone is missing", () => {
    expect(readFunctionSettings({})).toEqual({ value: undefined });
    expect(problemsOf({ BERTH_FUNCTION_URL: undefined })).toBe(
      "BERTH_FUNCTION_PROFILES, BERTH_FUNCTION_TOKEN need BERTH_FUNCTION_URL: set it too",
    );
  });

  it("have sensible values for what is not set", () => {
    expect(readFunctionSettings(enough)).toMatchObject({
      value: {
        url: "https://berth.example.com",
        profiles: ["main", "gpu"],
        every: 3_000,
        deadline: 1_000,
        versionKey: "cluster",
      },
    });
    const all = { ...enough, BERTH_FUNCTION_CA: "/ca", BERTH_POLICY_CACHE: "/kept", BERTH_CLUSTER: "eu-1" };
    expect(readFunctionSettings({ ...all, BERTH_FUNCTION_SECONDS: "0.5" })).toMatchObject({
      value: { caFile: "/ca", keptIn: "/kept", versionKey: "eu-1", every: 500 },
    });
  });

  it("are refused in a sentence each, which holds no secret", () => {
    const faults = problemsOf({
      BERTH_FUNCTION_URL: "https://me:hush@berth.example.com",
      BERTH_FUNCTION_PROFILES: "Main",
      BERTH_FUNCTION_SECONDS: "0",
      BERTH_FUNCTION_DEADLINE_MS: "5000",
      BERTH_FUNCTION_TOKEN_FILE: "/token",
    });
    expect(faults.split("\n")).toEqual([
      "BERTH_FUNCTION_URL must not hold a secret: use BERTH_FUNCTION_TOKEN",
      'BERTH_FUNCTION_PROFILES must be the names of profiles, such as gpu,batch, not "Main"',
      'BERTH_FUNCTION_SECONDS must be a number of seconds from 0.1 to 300, such as 3, not "0"',
      'BERTH_FUNCTION_DEADLINE_MS must be a whole number from 50 to 4000, such as 1000, not "5000"',
      "BERTH_FUNCTION_TOKEN and BERTH_FUNCTION_TOKEN_FILE exclude each other: set one",
    ]);
    expect(problemsOf({ BERTH_FUNCTION_TOKEN: undefined })).toContain("BERTH_FUNCTION_TOKEN_FILE");
  });

  it("take plain http on this machine only", () => {
    expect(problemsOf({ BERTH_FUNCTION_URL: "http://127.0.0.1:8787" })).toBe("");
    expect(problemsOf({ BERTH_FUNCTION_URL: "http://localhost:8787", BERTH_FUNCTION_TOKEN: undefined })).toBe("");
    for (const url of ["http://berth.example.com", "http://127.0.0.1.example.com", "ftp://127.0.0.1"])
      expect(problemsOf({ BERTH_FUNCTION_URL: url }), url).toContain("BERTH_FUNCTION_URL must be https");
    expect(problemsOf({ BERTH_FUNCTION_URL: "berth" })).toContain("such as https://berth.example.com");
    expect(problemsOf({ BERTH_FUNCTION_URL: "https://berth.example.com/?a" })).toContain("without ? and #");
  });

  it("read a token's file again whenever the token is used, and say when it cannot be read", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-token-"));
    const file = join(folder, "token");
    await writeFile(file, "first\n");
    const read = readFunctionSettings({ ...enough, BERTH_FUNCTION_TOKEN: undefined, BERTH_FUNCTION_TOKEN_FILE: file });
    if (!("value" in read) || !read.value) throw new Error("refused");
    expect(read.value.token()).toBe("first");
    await writeFile(file, "second\n");
    expect(read.value.token()).toBe("second");
    await rm(folder, { recursive: true });
    expect(read.value.token).toThrow(
      `BERTH_FUNCTION_TOKEN_FILE names ${file}, which cannot be read: there is no such file; it has to hold`,
    );
  });
});
