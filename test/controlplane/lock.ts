import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { say } from "./build.ts";

/**
 * Runs one thing at a time among all processes of this machine that name the same file. Waiting is reported on standard
 * error; the lock of a process that died is taken over.
 */
export async function withLock<T>(file: string, run: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  await take(file);
  try {
    return await run();
  } finally {
    rmSync(file, { force: true });
  }
}

async function take(file: string): Promise<void> {
  const started = performance.now();
  let said = started;
  while (!tryTake(file)) {
    const now = performance.now();
    if (now - said > 10_000) {
      said = now;
      say(`waiting ${Math.round((now - started) / 1000)} s for process ${holder(file)}, which builds (${file})`);
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

function tryTake(file: string): boolean {
  const owner = holder(file);
  if (owner !== undefined) {
    if (isAlive(owner)) return false;
    if (!clear(file, owner)) return false;
  }
  return create(file);
}

/** Takes a dead process's lock away, and puts back what turns out to be another process's new one. */
function clear(file: string, dead: number): boolean {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (holder(aside) === dead) return true;
    linkSync(aside, file);
    return false;
  } catch {
    return false;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** A link appears whole, with the process id in it, or not at all. */
function create(file: string): boolean {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, String(process.pid));
  try {
    linkSync(draft, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function holder(file: string): number | undefined {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
