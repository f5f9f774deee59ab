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
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** For its files. */
  readonly folder: string;
}

/** A Go program that asks an extender to bind with the client and the types of kube-scheduler. */
export interface Asker {
  /** What the extender says: nothing, if it has bound. */
  bind(args: JsonObject): Promise<string>;
  stop(): Promise<void>;
}

/** Builds the program if it must and starts it; it ends with this process. */
export async function startAsker({ url, folder, ...pem }: AskerOptions): Promise<Asker> {
  const program = { name: "asker", version: apiServerVersion } as const;
  await requirePrograms([program]);
  const flags = await Promise.all(
    (["ca", "cert", "key"] as const).map(async (name) => {
      const file = join(folder, `asker.${name}`);
      await writeFile(file, pem[name], { mode: 0o600 });
      return `-${name}=${file}`;
    }),
  );
  const child = spawn(programPath(program), [`-url=${url}`, ...flags], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, (said: string) => void>();
  let last = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, said } = JSON.parse(line) as { readonly id: number; readonly said: string };
    waiting.get(id)?.(said);
    waiting.delete(id);
  });
  const ended = once(child, "exit").then(() => {
    for (const hear of waiting.values()) hear("the program that asks has ended");
    waiting.clear();
  });
  return {
    bind: (args) =>
      new Promise((resolve) => {
        const id = ++last;
        waiting.set(id, resolve);
        child.stdin.write(`${JSON.stringify({ id, args })}\n`);
      }),
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
