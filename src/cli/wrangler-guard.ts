import { isMainThread } from "node:worker_threads";

/**
 * Loaded into wrangler before its own code: kills wrangler's whole process group when `berth dev` is gone without
 * having ended it, after a `kill -9` or a crash. Processes and threads that wrangler starts inherit the option that
 * loads this; only the one that `berth dev` started itself takes part.
 */
const LOOK_MS = 500;

const parent = process.ppid;
if (isMainThread && process.env["BERTH_DEV_PID"] === String(parent)) {
  const look = () => {
    if (process.ppid !== parent) process.kill(0, "SIGKILL");
  };
  setInterval(look, LOOK_MS).unref();
}
