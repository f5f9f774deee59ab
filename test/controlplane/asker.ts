import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { JsonObject } from "../../src/protocol/json.ts";
import { apiServerVersion, programPath, requirePrograms } from "./programs.ts";

/** Whom to ask, with what, in PEM. */
export interface AskerOptions {
  /** Such as `https://127.0.0.1:8443/gpu/bind`. */
  readonly url: string;
  /** Where to post events, and who does. */
  readonly events: { readonly url: string; readonly token: string };
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** For its files. */
  readonly folder: string;
}

/** A bind to ask for, and the event to write once it is done. */
export interface AskedBind {
  readonly args: JsonObject;
  readonly event?: JsonObject;
}

/** A Go program that asks an extender to bind with the client and the types of kube-scheduler. */
export interface Asker {
  /** Resolves when all are bound and all events are written. Rejects with what failed first. */
  bindAll(binds: readonly AskedBind[], parallel: number): Promise<void>;
  stop(): Promise<void>;
}

/** Builds the program if it must and starts it; it ends with this process. */
export async function startAsker({ url, events, folder, ...pem }: AskerOptions): Promise<Asker> {
  const program = { name: "asker", version: apiServerVersion } as const;
  await requirePrograms([program]);
  const flags = await Promise.all(
    (["ca", "cert", "key"] as const).map(async (name) => {
      const file = join(folder, `asker.${name}`);
      await writeFile(file, pem[name], { mode: 0o600 });
      return `-${name}=${file}`;
    }),
  );
  const child = spawn(programPath(program), [`-url=${url}`, `-events=${events.url}`, ...flags], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ASKER_TOKEN: events.token },
  });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async bindAll(binds, parallel) {
      child.stdin.write(`${JSON.stringify({ parallel, binds })}\n`);
      const { done, value } = await lines.next();
      const { failed } = done === true ? { failed: "the program that asks has ended" } : JSON.parse(value);
      if (failed !== "") throw new Error(failed);
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
