import { readFile } from "node:fs/promises";

/** What a process has taken since its start. */
export interface Usage {
  /** User and system time, in milliseconds. */
  readonly cpuMs: number;
  /** The most memory it has ever held, in bytes. */
  readonly peakBytes: number;
  /** The memory it holds now, in bytes. */
  readonly bytes: number;
}

/** The kernel counts in hundredths of a second on every Linux that Node runs on (`getconf CLK_TCK`). */
const TICK_MS = 10;

/** Reads a process's usage from /proc: the same kernel counters for every rival. Linux only. */
export async function usageOf(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile(`/proc/${pid}/status`, "utf8"),
  ]);
  // The name in parentheses may hold spaces; the fields are counted behind it (proc(5): utime 14, stime 15).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
  return { cpuMs: ticks * TICK_MS, peakBytes: bytes("VmHWM"), bytes: bytes("VmRSS") };
}
