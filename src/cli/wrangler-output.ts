import { field, type Json } from "../protocol/json.ts";

/**
 * Tells which lines of wrangler's dev server matter to somebody who did not ask for all: errors of wrangler, and
 * what the function says, other than its decisions, about requests that it got.
 */
export function matters(line: string): boolean {
  if (line.includes("[ERROR]")) return true;
  const entry = logEntry(line);
  return field(entry, "request") !== undefined && field(entry, "level") !== "info";
}

function logEntry(line: string): Json | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
}
