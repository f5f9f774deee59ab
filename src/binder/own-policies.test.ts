import { cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { policyFilesReader } from "../adapters/policy-files.ts";
import { registry } from "../policy/registry.ts";
import { followFiles } from "./own-policies.ts";
import { documents } from "./policy-fixture.ts";

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const yaml = (weight: number | string): string =>
  JSON.stringify({ apiVersion: "berth.dev/v1alpha1", kind: "PolicyConfiguration", ...profile(weight) });
const profile = (weight: number | string) => ({ profiles: [{ name: "main", plugins: [{ name: "Random", weight }] }] });
const facts = JSON.stringify({ apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts" });

/** Files as a ConfigMap mounts them: behind a link that is moved when they change. */
async function mounted() {
  const folder = await mkdtemp(join(tmpdir(), "berth-mounted-"));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  let revision = 0;
  const publish = async (config: string): Promise<void> => {
    revision += 1;
    const data = join(folder, `..${revision}`);
    await mkdir(data);
    await writeFile(join(data, "berth.yaml"), config);
    await writeFile(join(data, "facts.json"), facts);
    await symlink(`..${revision}`, join(folder, "..next"));
    await rename(join(folder, "..next"), join(folder, "..data"));
  };
  await publish(yaml(1));
  for (const name of ["berth.yaml", "facts.json"]) await symlink(join("..data", name), join(folder, name));
  const read = policyFilesReader(
    { configFile: join(folder, "berth.yaml"), factsFile: join(folder, "facts.json") },
    registry,
  );
  return { publish, read, folder };
}

async function follow(apply: (weight: number) => void | Promise<void>) {
  const { publish, read, folder } = await mounted();
  const lines: string[] = [];
  const followed = followFiles({
    read,
    first: await read(),
    apply: async ({ configuration }) => {
      const [entry] = configuration.profiles[0]?.plugins ?? [];
      await apply(entry && "weight" in entry ? Number(entry.weight) : 0);
    },
    log: (level, message, fields) => void lines.push(`${level} ${message} ${fields?.["problem"]}`),
    every: 10,
  });
  opened.push(followed.stop);
  return { publish, followed, lines, folder };
}

describe("the policy's files", () => {
  it("are taken over when a mounted ConfigMap changes, once for each change", async () => {
    const weights: number[] = [];
    const { publish } = await follow((weight) => void weights.push(weight));
    await publish(yaml(2));
    await expect.poll(() => weights).toEqual([2]);
    await publish(yaml(3));
    await expect.poll(() => weights).toEqual([2, 3]);
  });

  it("leave in force what was, while they have faults: those are told once, with their place", async () => {
    const weights: number[] = [];
    const { publish, followed, lines, folder } = await follow((weight) => void weights.push(weight));
    await publish(yaml("heavy"));
    await expect.poll(followed.problem).toContain(`${folder}/berth.yaml:1:`);
    await publish("{");
    await expect.poll(followed.failures).toBe(2);
    expect([weights, lines.length]).toEqual([[], 2]);
    expect(lines[0]).toMatch(/^error the policy's files have faults; .*weight: must be a number, not "heavy"/);
    await publish(yaml(4));
    await expect.poll(() => weights).toEqual([4]);
    await expect.poll(followed.problem).toBeUndefined();
  });

  it("that cannot be applied are told of, and are tried again", async () => {
    let broken = true;
    const weights: number[] = [];
    const { publish, followed } = await follow((weight) => {
      if (broken) throw new Error("no room for it");
      weights.push(weight);
    });
    await publish(yaml(5));
    await expect.poll(followed.problem).toBe("no room for it");
    broken = false;
    await expect.poll(() => weights).toEqual([5]);
  });

  it("count once two looks have seen the same, so that nobody is caught between two files", async () => {
    const [first, half, whole] = [documents({ name: "Random" }), documents(), documents({ name: "NodeCost" })];
    const reads = [first, half, whole];
    const applied: unknown[] = [];
    const followed = followFiles({
      read: async () => reads.shift() ?? whole,
      first,
      apply: async (each) => void applied.push(each),
      log: () => undefined,
      every: 5,
    });
    opened.push(followed.stop);
    await expect.poll(() => applied).toEqual([whole]);
  });
});

it("a reader gives the very same documents as long as the texts are the same", async () => {
  const { read, folder, publish } = await mounted();
  const first = await read();
  expect(await read()).toBe(first);
  await cp(join(folder, "berth.yaml"), join(folder, "copy"));
  expect(await read()).toBe(first);
  await publish(yaml(9));
  expect(await read()).not.toBe(first);
});
