import type { X509Certificate } from "node:crypto";
import { request } from "node:https";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { eventually } from "../controlplane/eventually.ts";
import { freePort } from "../controlplane/ports.ts";
import { type RunningProcess, startProcess } from "../controlplane/process.ts";
import { type Project, processes, processesWith } from "./project.ts";

/** For tests that start wrangler: it takes seconds, or many when other tests keep the machine busy. */
export const SLOW = 300_000;

const patience = { within: 120_000 };

/** `berth dev` of a project, on a port of its own. */
export interface Session extends RunningProcess {
  readonly port: number;
  /** The process groups that were seen to belong to it: one of wrangler's two workerd has no port in its command line. */
  readonly groups: Set<number>;
  /** Resolves when something stands in the output. */
  sees(what: string | RegExp): Promise<unknown>;
}

let started = 0;

/** Starts a command that takes `--port`. */
export async function startSession({ folder }: Project, command: string, args: readonly string[]): Promise<Session> {
  const port = await freePort();
  const name = `session-${++started}`;
  const running = startProcess({ name, command, args: [...args, "--port", String(port)], folder, cwd: folder });
  const groups = new Set<number>();
  const isSeen = (what: string | RegExp, logs: string) =>
    typeof what === "string" ? logs.includes(what) : what.test(logs);
  return {
    ...running,
    port,
    groups,
    async sees(what) {
      const probe = (saw: (seen: unknown) => void) => {
        saw(running.logs());
        return isSeen(what, running.logs()) || running.exit() !== undefined;
      };
      await eventually(`${what} in the output`, probe, patience);
      for (const { group } of await processesWith(String(port))) groups.add(group);
      if (!isSeen(what, running.logs())) throw new Error(`it ended without ${what}:\n${running.logs()}`);
    },
  };
}

/** Starts `berth dev` itself. */
export function startDev(project: Project, ...args: string[]): Promise<Session> {
  return startSession(project, process.execPath, ["src/cli/berth.js", "dev", ...args]);
}

/** Waits until nothing is left of a session: neither wrangler nor workerd nor the command itself. */
export async function nothingLeft({ port, groups }: Session): Promise<void> {
  await eventually("no process is left", async (saw) => {
    const left = (await processes()).filter(({ group, args }) => groups.has(group) || args.includes(String(port)));
    saw(left);
    return left.length === 0;
  });
}

/** Asks for the description of the default profile, trusting one authority or, without it, the system's. */
export async function askSession(port: number, ca?: string) {
  const asked = request({ host: "127.0.0.1", port, path: "/default", agent: false, ...(ca && { ca }) });
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; policy: unknown; presented: string }>();
  asked.on("error", reject);
  asked.on("response", async (response) => {
    const { socket } = response as unknown as { socket: { getPeerX509Certificate(): X509Certificate } };
    const presented = socket.getPeerX509Certificate().fingerprint256;
    await text(response);
    resolve({ status: response.statusCode ?? 0, policy: response.headers["berth-policy"], presented });
  });
  asked.end();
  return promise;
}

/** Has somebody listen on a port while it is used. */
export async function withTakenPort(use: (port: number) => Promise<void>): Promise<void> {
  const port = await freePort();
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await use(port);
  } finally {
    server.close();
  }
}
