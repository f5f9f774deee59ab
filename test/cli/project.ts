import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..", "..");

/** A copy of this project in a temporary folder, with the packages of the original. */
export interface Project {
  readonly folder: string;
  /** Changes the text of a file by replacing it, as many editors do. Answers the first line that changed, from 1. */
  edit(file: string, change: (text: string) => string): Promise<number>;
  remove(): Promise<void>;
}

/** Copies what a checkout has; without `packages` it is one before `npm ci`, with one named, that one is missing. */
export async function copyProject(options: { packages?: boolean; without?: string } = {}): Promise<Project> {
  const { packages = true, without } = options;
  const folder = await mkdtemp(join(tmpdir(), "berth-cli-"));
  for (const file of ["package.json", "wrangler.toml", "berth.yaml", "facts.json"]) {
    await cp(join(root, file), join(folder, file));
  }
  const filter = (source: string): boolean => !source.endsWith(".test.ts");
  await cp(join(root, "src"), join(folder, "src"), { recursive: true, filter });
  if (packages) await linkPackages(folder, without);
  return {
    folder,
    async edit(file, change) {
      const text = await readFile(join(folder, file), "utf8");
      const changed = change(text);
      if (changed === text) throw new Error(`${file} is as it was`);
      await writeFile(join(folder, `${file}.new`), changed);
      await rename(join(folder, `${file}.new`), join(folder, file));
      const before = text.split("\n");
      return changed.split("\n").findIndex((line, index) => line !== before[index]) + 1;
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

async function linkPackages(folder: string, without: string | undefined): Promise<void> {
  const packages = join(root, "node_modules");
  if (without === undefined) return symlink(packages, join(folder, "node_modules"));
  await cp(join(root, "package.json"), join(folder, "node_modules", "package.json"), { recursive: true });
  for (const name of await readdir(packages)) {
    if (name !== without) await symlink(join(packages, name), join(folder, "node_modules", name));
  }
}

/** What a finished command left. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `berth` of a project to its end. */
export async function berth(
  { folder }: Project,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const command = [join(folder, "src/cli/berth.js"), ...args];
  const run = promisify(execFile)(process.execPath, command, { cwd: folder, env: { ...process.env, ...env } });
  return run.then(
    (output) => ({ code: 0, ...output }),
    (error: Finished) => error,
  );
}

/** A process of this machine. */
export interface Found {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly args: string;
}

/** The processes on this machine whose command line has a text in it. */
export async function processesWith(text: string): Promise<Found[]> {
  return (await processes()).filter(({ args }) => args.includes(text));
}

/** All processes that have not ended. */
export async function processes(): Promise<Found[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,ppid=,pgid=,stat=,args="]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, group, state, args] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (args === undefined || state?.startsWith("Z")) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), args }];
  });
}
