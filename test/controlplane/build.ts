import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

/** One `go build`. */
export interface BuildTask {
  /** For people: `etcd v1.37.2`. */
  readonly what: string;
  /** Roughly how long the first build takes on two cores. */
  readonly minutes: number;
  /** Where Go runs. */
  readonly folder: string;
  /** What follows `go build -o OUTPUT`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly output: string;
  /** Written to `OUTPUT.stamp` after success, removed before the start. */
  readonly stamp: string;
}

/** The installed Go's version line, or undefined when there is no Go. */
export function findGo(): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile("go", ["version"], (error, stdout) => resolve(error === null ? stdout.trim() : undefined));
  });
}

/** Builds with progress on standard error at least every ten seconds. Throws with the end of Go's output. */
export async function build(task: BuildTask): Promise<void> {
  const stampFile = `${task.output}.stamp`;
  await mkdir(dirname(task.output), { recursive: true });
  await rm(stampFile, { force: true });
  const started = performance.now();
  say(`building ${task.what} (about ${task.minutes} min the first time, seconds from Go's build cache)`);
  // -v names each package as it is compiled, which is all the progress that Go offers.
  const child = spawn("go", ["build", "-v", "-o", task.output, ...task.args], {
    cwd: task.folder,
    env: { ...process.env, ...task.env, GOWORK: "off" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const output = await follow(child, task, started);
  if (child.exitCode !== 0) throw new Error(`go build of ${task.what} failed:\n${output.slice(-30).join("\n")}`);
  await writeFile(stampFile, task.stamp);
  say(`built ${task.what} in ${seconds(started)} s`);
}

async function follow(child: ChildProcess, task: BuildTask, started: number): Promise<string[]> {
  const lines: string[] = [];
  let compiled = 0;
  let fetched = 0;
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      if (line.startsWith("go: downloading")) fetched += 1;
      else compiled += 1;
    });
  }
  const report = setInterval(() => {
    const downloads = fetched === 0 ? "" : `${fetched} modules downloaded, `;
    const at = lines.at(-1) ?? "looking up modules";
    say(`${task.what}: ${seconds(started)} s of about ${task.minutes} min, ${downloads}${compiled} packages, at ${at}`);
  }, 10_000);
  try {
    await once(child, "close");
  } finally {
    clearInterval(report);
  }
  return lines;
}

/** Prints one line of progress. */
export function say(text: string): void {
  process.stderr.write(`[control plane] ${text}\n`);
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1000);
}
