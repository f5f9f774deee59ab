import { cp, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Policy } from "../policy/policy.ts";
import { policyName, readDevPolicy } from "./dev-policy.ts";
import { followPolicy, rebuild, stampOf } from "./policy-changes.ts";

const root = process.cwd();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-changes-"));
  for (const file of ["berth.yaml", "facts.json"]) await cp(join(root, file), join(folder, file));
  process.chdir(folder);
});
afterEach(async () => {
  process.chdir(root);
  await rm(folder, { recursive: true });
});

/** Follows the files of the folder beside a function that has what `has` says: what a user sees, what it was asked for. */
async function following() {
  const stop = new AbortController();
  const first = await readDevPolicy(undefined);
  const lines: string[] = [];
  const asked: string[] = [];
  let inForce = policyName(first);
  const show = async (policy: Policy) => {
    asked.push(policyName(policy));
    if (policyName(policy) !== inForce) return false;
    lines.push(`decided by ${inForce}`);
    return true;
  };
  const note = (text: string) => void lines.push(text);
  const follower = { profile: undefined, once: false, note, show, signal: stop.signal };
  const ended = followPolicy(first, await stampOf(), follower).catch(() => undefined);
  await expect.poll(() => lines).toEqual([`decided by ${inForce}`]);
  return {
    lines,
    asked,
    has: (policy: string) => {
      inForce = policy;
    },
    async end() {
      stop.abort();
      await ended;
    },
  };
}

/** Writes berth.yaml with another weight, and gives the name of the policy that is then in the files. */
async function weigh(weight: number): Promise<string> {
  const text = await readFile(join(root, "berth.yaml"), "utf8");
  await writeFile("berth.yaml", text.replace("weight: 3", `weight: ${weight}`));
  return policyName(await readDevPolicy(undefined));
}

describe("a change of the policy's files while npm start runs", () => {
  it("is told at once, and shown when the function decides by it", async () => {
    const { lines, has, end } = await following();
    const changed = await weigh(4);
    const told = `Changed: policy ${changed}. The function takes it over in a few seconds.`;
    await expect.poll(() => lines.slice(1)).toEqual([told]);
    has(changed);
    await expect.poll(() => lines.slice(2)).toEqual([`decided by ${changed}`]);
    await end();
  });

  it("is overtaken by the next one: the last is shown, and no other after it", async () => {
    const { lines, asked, has, end } = await following();
    const passed = await weigh(4);
    await expect.poll(() => lines.join("\n")).toContain(`Changed: policy ${passed}`);
    const last = await weigh(5);
    await expect.poll(() => lines.join("\n")).toContain(`Changed: policy ${last}`);
    has(passed);
    const before = asked.length;
    await expect.poll(() => asked.length).toBeGreaterThan(before);
    has(last);
    await expect.poll(() => lines.at(-1)).toBe(`decided by ${last}`);
    expect(lines).not.toContain(`decided by ${passed}`);
    await end();
  });

  it("is shown although the next one has a fault, when the function took it over before", async () => {
    const { lines, has, end } = await following();
    const taken = await weigh(4);
    await expect.poll(() => lines.join("\n")).toContain(`Changed: policy ${taken}`);
    await writeFile("berth.yaml", "profiles: 7\n");
    await expect.poll(() => lines.join("\n")).toContain("Still in force");
    has(taken);
    await expect.poll(() => lines.at(-1)).toBe(`decided by ${taken}`);
    await end();
  });

  it("that wrangler has missed is given to it again, with the files as they are", async () => {
    const before = await stat("berth.yaml");
    await rebuild();
    const after = await stat("berth.yaml");
    expect(after.ctimeMs).toBeGreaterThan(before.ctimeMs);
    expect(Math.abs(after.mtimeMs - before.mtimeMs)).toBeLessThanOrEqual(1);
    await rm("facts.json");
    await expect(rebuild()).resolves.toBeUndefined();
  });
});
