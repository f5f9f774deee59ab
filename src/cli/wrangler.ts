import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DevError } from "./dev-error.ts";
import { KEEP_POLICY } from "./policy.ts";
import { portError } from "./ports.ts";

/** How wrangler's dev server is to serve. */
export interface WranglerOptions {
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
  /** Takes each line of output, without colours. */
  readonly onLine: (line: string) => void;
}

/** wrangler's dev server as a child process. */
export interface Wrangler {
  /** Resolves when it has ended, by itself or not, with why, for people. */
  readonly ended: Promise<DevError>;
  /** Ends it with everything that it has started. Resolves when nothing of it is left. */
  stop(): Promise<void>;
}

/** How long wrangler and workerd may take to end by themselves. */
const GRACE_MS = 5_000;
const LOOK_MS = 50;

/** After a kill the system may list the dead for ever: in containers whose first process collects nothing. */
const DEAD_MS = 1_000;

/** How long output may come after wrangler's own end. */
const LAST_WORDS_MS = 500;

/** So many last lines are told when wrangler ends by itself. */
const TOLD_LINES = 15;

/**
 * Starts wrangler's dev server in a process group of its own: wrangler starts another Node, that one workerd, and
 * only the group reaches them all. When this process ends without having stopped it, in whatever way, the group is
 * killed.
 *
 * @throws {DevError} when wrangler is not installed
 */
export function startWrangler(options: WranglerOptions): Wrangler {
  const guardFile = new URL("wrangler-guard.ts", import.meta.url);
  if (!existsSync(guardFile)) throw new DevError("berth dev needs a checkout of Berth, where it builds the Worker");
  const guard = `--import=${guardFile}`;
  const child = spawn(process.execPath, [guard, wranglerProgram(), ...devArguments(options)], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: wranglerEnvironment(options),
  });
  const last: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() === "") return;
      last.push(line);
      if (last.length > TOLD_LINES) last.shift();
      options.onLine(line);
    });
  }
  const killNow = () => signalGroup(child, "SIGKILL");
  process.once("exit", killNow);
  const ended = new Promise<DevError>((resolve) => {
    child.once("error", (error) => resolve(new DevError(`wrangler could not be started: ${error.message}`)));
    child.once("exit", (code, signal) => {
      const tell = () => resolve(endedBecause(options.port, code ?? signal, last));
      child.once("close", tell);
      // A workerd that is left holds the streams open, and they then never close.
      setTimeout(tell, LAST_WORDS_MS).unref();
    });
  });
  return {
    ended,
    async stop() {
      await stopGroup(child);
      await rm(scratchOf(options), { recursive: true, force: true });
      process.off("exit", killNow);
    },
  };
}

/** wrangler's own program; going through npx would leave it running when npx is ended. */
function wranglerProgram(): string {
  try {
    const manifest = fileURLToPath(import.meta.resolve("wrangler/package.json"));
    const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: { wrangler: string } };
    return join(dirname(manifest), bin.wrangler);
  } catch {
    throw new DevError("wrangler is not installed here: run `npm ci`, without leaving out development packages");
  }
}

function devArguments(options: WranglerOptions): string[] {
  const { port, certFile, keyFile } = options;
  return [
    "dev",
    ...["--local-protocol", "https", "--https-key-path", keyFile, "--https-cert-path", certFile],
    // Any free inspector port, so that two can run.
    ...["--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"],
    // workerd locks what it keeps there: with one folder for all, the second of two does not start.
    ...["--persist-to", join(scratchOf(options), "state")],
    ...["--show-interactive-dev-session", "false", "--var", "BERTH_OPEN:loopback"],
  ];
}

/** Nothing that goes over the network, no colours, no files outside of the project. */
function wranglerEnvironment(options: WranglerOptions): NodeJS.ProcessEnv {
  const { NO_COLOR: _, ...env } = process.env;
  return {
    ...env,
    FORCE_COLOR: "0",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_WRITE_LOGS: "false",
    WRANGLER_REGISTRY_PATH: join(scratchOf(options), "registry"),
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    [KEEP_POLICY]: "1",
    BERTH_DEV_PID: String(process.pid),
  };
}

/**
 * Where wrangler notes which Workers run on this machine, and what they store; a folder of its own, for two may have the
 * same name.
 */
function scratchOf({ port, certFile }: WranglerOptions): string {
  return resolve(dirname(certFile), `wrangler-${port}`);
}

function endedBecause(port: number, how: number | string | null, last: readonly string[]): DevError {
  if (last.some((line) => /Address already in use|EADDRINUSE/.test(line))) return portError(port, "EADDRINUSE");
  const output = last.map((line) => `  ${line}`).join("\n");
  return new DevError(`wrangler's dev server ended by itself (${how}). Its last lines:\n${output}`);
}

async function stopGroup(child: ChildProcess): Promise<void> {
  signalGroup(child, "SIGTERM");
  if (await isGone(child, GRACE_MS)) return;
  signalGroup(child, "SIGKILL");
  await isGone(child, DEAD_MS);
}

async function isGone(child: ChildProcess, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (signalGroup(child, 0)) {
    if (Date.now() > deadline) return false;
    await sleep(LOOK_MS);
  }
  return true;
}

/** Answers whether there was anything left to signal. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}
