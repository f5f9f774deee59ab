import { DEFAULT_BODY_LIMIT } from "../extender/body.ts";

/** Variables and secrets of the Worker, as wrangler.toml and `wrangler secret put` set them. */
export interface WorkerEnv {
  /** `loopback` lets anybody in who calls a loopback address: for `wrangler dev` only. */
  readonly BERTH_OPEN?: string;
  /** The largest body in bytes. */
  readonly BERTH_BODY_LIMIT?: string;
  readonly [secret: string]: unknown;
}

/** What the environment says, read in this one place. */
export function readSettings(env: WorkerEnv) {
  return {
    openOnLoopback: env.BERTH_OPEN === "loopback",
    bodyLimit: bodyLimit(env.BERTH_BODY_LIMIT),
    secret: (name: string) => {
      const value = env[name];
      return typeof value === "string" ? value : undefined;
    },
  };
}

/** A number of bytes, or the default for anything that is not one. */
export function bodyLimit(text: string | undefined): number {
  return text !== undefined && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : DEFAULT_BODY_LIMIT;
}
