import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { build, findGo } from "./build.ts";
import { withLock } from "./lock.ts";

/** The Kubernetes version of the API server in every test. */
export const apiServerVersion = "1.37.2";

/** The served kube-scheduler versions, oldest first. */
export const schedulerVersions = ["1.34.4", "1.35.4", "1.36.3", "1.37.2"] as const;

/** How one program is built from `programs/`. */
interface Recipe {
  /** Its folder there, a `main` package. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Roughly, the first time on two cores. */
  readonly minutes: number;
}

const recipes = {
  etcd: { folder: "etcd", minutes: 1 },
  "kube-apiserver": { folder: "kube-apiserver", minutes: 6 },
  "kube-scheduler": { folder: "kube-scheduler", minutes: 5 },
  answers: { folder: "answers", minutes: 1 },
  plugins: { folder: "plugins", minutes: 2 },
  oracle: { folder: "oracle", minutes: 1 },
  asker: { folder: "asker", minutes: 1 },
  goextender: { folder: "goextender", minutes: 1 },
  "goextender-jsonv2": { folder: "goextender", env: { GOEXPERIMENT: "jsonv2" }, minutes: 3 },
} as const satisfies Record<string, Recipe>;

/** A Go program that tests use. */
export type ProgramName = keyof typeof recipes;

/** A program built against one Kubernetes version, such as `1.37.2`. */
export interface Program {
  readonly name: ProgramName;
  readonly version: string;
}

/** Whether the programs are there; if not, why, in a sentence for people. */
export type Availability = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** The sources: a Go module with one module file per Kubernetes version. */
const sources = join(import.meta.dirname, "programs");

/** What a control plane with these kube-schedulers needs. */
export function controlPlanePrograms(versions: readonly string[]): Program[] {
  return [
    { name: "etcd", version: apiServerVersion },
    { name: "kube-apiserver", version: apiServerVersion },
    ...versions.map((version) => ({ name: "kube-scheduler" as const, version })),
  ];
}

/** Where a program's binary is once it was ensured. */
export function programPath(program: Program): string {
  return join(cacheFolder(), `v${program.version}`, program.name);
}

/**
 * Builds what is not there yet or was built from other sources, one program after another, with progress on standard
 * error; nothing is built twice at the same time. Not ok when something has to be built and Go is missing. A build that
 * fails throws with the end of Go's output.
 */
export async function ensurePrograms(programs: readonly Program[]): Promise<Availability> {
  if (programs.every(isBuilt)) return { ok: true };
  const go = await findGo();
  if (go === undefined) {
    const names = programs.filter((program) => !isBuilt(program)).map(describe);
    const reason = `Go is not installed (no "go" on the PATH), and ${names.join(", ")} must be built with it`;
    return { ok: false, reason };
  }
  await withLock(join(cacheFolder(), "build.lock"), async () => {
    for (const program of programs) if (!isBuilt(program)) await buildProgram(program);
  });
  return { ok: true };
}

/** As `ensurePrograms`, for callers that cannot go on without: throws the reason. */
export async function requirePrograms(programs: readonly Program[]): Promise<void> {
  const availability = await ensurePrograms(programs);
  if (!availability.ok) throw new Error(availability.reason);
}

async function buildProgram(program: Program): Promise<void> {
  const recipe: Recipe = recipes[program.name];
  await build({
    what: describe(program),
    minutes: recipe.minutes,
    folder: sources,
    args: [...buildFlags(program), `./${recipe.folder}`],
    env: recipe.env ?? {},
    output: programPath(program),
    stamp: stampOf(program),
  });
}

function buildFlags(program: Program): string[] {
  // Without the version kubectl and clients cannot parse what the server says of itself.
  const version = `-X k8s.io/component-base/version.gitVersion=v${program.version}`;
  return [`-modfile=versions/v${program.version}.mod`, "-trimpath", "-buildvcs=false", "-ldflags", `-s -w ${version}`];
}

/** Changes whenever the binary could come out differently: module file, sources, flags, environment. */
function stampOf(program: Program): string {
  const recipe: Recipe = recipes[program.name];
  const hash = createHash("sha256");
  hash.update(JSON.stringify([buildFlags(program), recipe.env ?? {}]));
  hash.update(readFileSync(join(sources, "versions", `v${program.version}.mod`)));
  const folder = join(sources, recipe.folder);
  for (const file of readdirSync(folder).sort()) hash.update(`\n${file}\n`).update(readFileSync(join(folder, file)));
  return hash.digest("hex");
}

function isBuilt(program: Program): boolean {
  try {
    return readFileSync(`${programPath(program)}.stamp`, "utf8") === stampOf(program);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function cacheFolder(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "berth", "controlplane");
}

function describe(program: Program): string {
  return `${program.name} v${program.version}`;
}
