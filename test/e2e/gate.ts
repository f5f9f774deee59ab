import { describe, it } from "vitest";
import {
  type Availability,
  controlPlanePrograms,
  ensurePrograms,
  type Program,
  schedulerVersions,
} from "../controlplane/programs.ts";

/**
 * The kube-scheduler versions that end-to-end tests run on: the oldest and the newest that are served, or what the
 * environment variable BERTH_E2E_VERSIONS lists (commas between them, or `all`). Throws for a version that is not served.
 */
export function e2eVersions(): readonly string[] {
  const wanted = process.env["BERTH_E2E_VERSIONS"] ?? "";
  if (wanted === "all") return schedulerVersions;
  const versions = wanted.split(",").filter((version) => version !== "");
  const served: readonly string[] = schedulerVersions;
  const unknown = versions.filter((version) => !served.includes(version));
  if (unknown.length > 0) {
    throw new Error(`BERTH_E2E_VERSIONS: ${unknown.join(", ")} not among ${served.join(", ")}`);
  }
  return versions.length > 0 ? versions : [served[0] ?? "", served.at(-1) ?? ""];
}

/**
 * Declares a suite that needs a real control plane; to be awaited at the top of a test file. Builds what is missing
 * first, with progress. Without Go the suite is skipped and says so; with the environment variable CI it fails.
 */
export async function e2e(title: string, suite: (versions: readonly string[]) => void): Promise<void> {
  const versions = e2eVersions();
  await gated(title, controlPlanePrograms(versions), () => suite(versions));
}

/** As `e2e`, for suites that need other Go programs. */
export async function gated(title: string, programs: readonly Program[], suite: () => void): Promise<void> {
  const availability = await ensurePrograms(programs);
  if (availability.ok) describe(title, suite);
  else declareMissing(title, availability);
}

function declareMissing(title: string, { reason }: Extract<Availability, { ok: false }>): void {
  process.stderr.write(`\nskipped: ${title}: ${reason}\n`);
  const fail = (): never => {
    throw new Error(`${reason}; CI is set, so this is a failure`);
  };
  describe(title, () => {
    if (process.env["CI"]) it("has the programs it needs", fail);
    else it.skip(`is skipped: ${reason}`, fail);
  });
}
