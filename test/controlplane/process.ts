import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What to start. */
export interface ProcessSpec {
  /** Names the log file and stands in error messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Where `<name>.log` is written. */
  readonly folder: string;
  /** Added to this process's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A folder to delete when the test process dies without stopping this one. */
  readonly removeWhenAbandoned?: string;
}

/** A process that does not outlive the test process, whatever becomes of that. */
export interface RunningProcess {
  readonly name: string;
  /** The program's own process id, and the id of its process group. */
  readonly pid: number;
  readonly logFile: string;
  /** Everything it has written to standard output and standard error. */
  logs(): string;
  /** How it ended, or undefined while it runs. */
  exit(): Exit | undefined;
  /** Resolves when it has ended. */
  readonly exited: Promise<Exit>;
  /** Sends a signal to the program and its children; nothing happens when it has ended. */
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal (default SIGTERM), after 10 s SIGKILL, and waits until it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Becomes the program, and leaves a shell in its process group that reads from a pipe only the test process holds.
 * The pipe ends without a word when the test process dies, by whatever signal; then the group is killed.
 */
const guard = `
exec 3<&0
(
  trap '' TERM INT HUP
  read -r word <&3 && exit
  kill -KILL "$$"
  [ -z "$BERTH_ABANDONED_FOLDER" ] || rm -rf "$BERTH_ABANDONED_FOLDER"
  kill -KILL "-$$"
) >/dev/null 2>&1 &
exec 3<&-
exec "$@" </dev/null
`;

/** Starts a program in a process group of its own. Throws when the command cannot be started. */
export function startProcess(spec: ProcessSpec): RunningProcess {
  mkdirSync(spec.folder, { recursive: true });
  const logFile = join(spec.folder, `${spec.name}.log`);
  const log = openSync(logFile, "a");
  const child = spawn("/bin/sh", ["-c", guard, "guard", spec.command, ...spec.args], {
    detached: true,
    stdio: ["pipe", log, log],
    cwd: spec.cwd,
    env: { ...process.env, ...spec.env, BERTH_ABANDONED_FOLDER: spec.removeWhenAbandoned ?? "" },
  });
  closeSync(log);
  const { pid, stdin } = child;
  if (pid === undefined || stdin === null) throw new Error(`${spec.name}: cannot start ${spec.command}`);

  let ended: Exit | undefined;
  // The program never reads the pipe, so a write after its end fails and means nothing.
  stdin.on("error", () => {});
  const exited = new Promise<Exit>((resolve) => {
    child.on("exit", (code, signal) => {
      ended = { code, signal };
      stdin.end("done\n");
      resolve(ended);
    });
  });
  const signal = (name: NodeJS.Signals): void => {
    if (ended === undefined) signalGroup(pid, name);
  };

  return {
    name: spec.name,
    pid,
    logFile,
    logs: () => readFileSync(logFile, "utf8"),
    exit: () => ended,
    exited,
    signal,
    async stop(first = "SIGTERM") {
      signal(first);
      const last = setTimeout(() => signal("SIGKILL"), 10_000);
      await exited;
      clearTimeout(last);
    },
  };
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** The end of a process's log, for error messages. */
export function lastLines(process: RunningProcess, count = 20): string {
  return process.logs().trimEnd().split("\n").slice(-count).join("\n");
}

/**
 * Waits until a process answers. Throws with the end of its log when it ends first or the time (ms) runs out.
 */
export async function waitUntilUp(process: RunningProcess, up: () => Promise<boolean>, within = 60_000): Promise<void> {
  const deadline = Date.now() + within;
  for (;;) {
    if (process.exit() !== undefined) throw new Error(`${process.name} ended while starting:\n${lastLines(process)}`);
    if (await up().catch(() => false)) return;
    if (Date.now() > deadline) {
      throw new Error(`${process.name} was not ready within ${within / 1000} s:\n${lastLines(process)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
