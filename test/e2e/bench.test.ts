import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { apiServerVersion, controlPlanePrograms, schedulerVersions } from "../controlplane/programs.ts";
import { gated } from "./gate.ts";

const BENCH = fileURLToPath(new URL("../bench/run.ts", import.meta.url));

async function bench(args: readonly string[], timeout = 170_000): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [BENCH, ...args], { timeout });
  return stdout;
}

await gated(
  "the benchmark of the function",
  [
    { name: "goextender", version: apiServerVersion },
    { name: "goextender-jsonv2", version: apiServerVersion },
  ],
  () => {
    it("runs all rivals, finds that they decide alike, and prints a row for each", async () => {
      const stdout = await bench(["--smoke"]);
      for (const rival of ["Berth on Node", "Go, encoding/json", "Go, GOEXPERIMENT=jsonv2"]) {
        expect(stdout.split(rival)).toHaveLength(3);
      }
      expect(stdout).toMatch(/load \d/);
    });
  },
);

await gated("the benchmark of the binder", controlPlanePrograms([]), () => {
  it("has every pod bound by the binder and by the bare client", async () => {
    const stdout = await bench(["binder", "--smoke"]);
    for (const row of ["plain, Bindings alone", "plain, and Scheduled by the caller", "device"])
      expect(stdout).toContain(`│ ${row}`);
    expect(stdout).toMatch(/load \d/);
  }, 180_000);

  it("starts it on a full cluster", async () => {
    expect(await bench(["cache", "--smoke"])).toContain("│ 20 nodes, 100 pods");
  });
});

await gated("the benchmark of a busy cluster", controlPlanePrograms([schedulerVersions.at(-1) ?? ""]), () => {
  it("places new pods while others wait refused and pods' statuses change", async () => {
    const stdout = await bench(["quiet", "--smoke"]);
    for (const row of ["SchedulerPopFromBackoffQ=false", "as they come"]) expect(stdout).toContain(`│ ${row}`);
  }, 180_000);
});

await gated(
  "the benchmark of whole nodes",
  [...controlPlanePrograms([apiServerVersion]), { name: "oracle", version: apiServerVersion }],
  () => {
    it("places every pod beside the oracle, the Go extender and the function on Node and in workerd", async () => {
      const stdout = await bench(["direct", "--smoke"], 280_000);
      expect(stdout.split("Berth on Node")).toHaveLength(5);
      expect(stdout.split("Berth in workerd")).toHaveLength(3);
      expect(stdout).toMatch(/load \d/);
    }, 300_000);
  },
);

await gated("the benchmark of the scheduler", controlPlanePrograms([schedulerVersions.at(-1) ?? ""]), () => {
  it("has every pod bound by berth schedule and by kube-scheduler, and asks for no list per pod", async () => {
    const stdout = await bench(["scheduler", "--smoke"]);
    const [own = "", theirs = ""] = ["berth schedule", "kube-scheduler"].map(
      (name) => stdout.split("\n").find((line) => line.startsWith(`│ ${name}`)) ?? "",
    );
    for (const row of [own, theirs]) expect(row).toContain("1.000 POST binding");
    expect(own).toContain("1.000 POST events");
    expect(own).not.toMatch(/\d\.[1-9]\d* (LIST|GET)/);
  }, 180_000);
});

await gated(
  "the benchmark of the relay",
  [...controlPlanePrograms([apiServerVersion]), { name: "goextender", version: apiServerVersion }],
  () => {
    it("places every pod alone, beside the Go extender in both forms, and with the relay in each of its own", async () => {
      const stdout = await bench(["relay", "--smoke"], 280_000);
      const go = ["Go extender by names, filter and prioritize", "Go extender by names, all verbs"];
      const rivals = ["no extender", ...go, "one plugin in the function only", "with a shadow"];
      for (const rival of rivals) expect(stdout).toContain(rival);
      expect(stdout).toMatch(/load \d/);
    }, 300_000);
  },
);

await gated("the benchmark of a function that fails", controlPlanePrograms([apiServerVersion]), () => {
  it("places pods while the function is away, and finds no decision by a version that nobody served", async () => {
    const stdout = await bench(["outage", "--smoke"], 280_000);
    expect(stdout.split("was killed")).toHaveLength(3);
    expect(stdout.match(/ [1-9]\d* decisions, 0 by a version that nobody served, 0 that mixed/g)).toHaveLength(2);
  }, 300_000);
});
