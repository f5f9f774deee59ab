import { describe, expect, it } from "vitest";
import { matters } from "./wrangler-output.ts";

const line = (fields: object) => JSON.stringify({ time: "2026-01-01T00:00:00.000Z", ...fields });

describe("of wrangler's output", () => {
  it.each([
    ["✘ [ERROR] Uncaught TypeError: x is not a function"],
    [line({ level: "warn", message: "request turned away", request: "1", status: 401 })],
    [line({ level: "error", message: "decision", request: "1", error: "plugin NodeCost: …" })],
  ])("%s is shown", (text) => {
    expect(matters(text)).toBe(true);
  });

  it.each([
    ["⎔ Reloading local server..."],
    ["[wrangler:info] GET /default 200 OK (56ms)"],
    [line({ level: "info", message: "decision", request: "1" })],
    [line({ level: "error", message: "secret CLUSTER_A_PATH is not set: this credential is not accepted" })],
    [line({ level: "warn", message: "open on loopback: whoever calls from this machine is let in" })],
    ["{ not JSON"],
  ])("%s is shown only when all is asked for", (text) => {
    expect(matters(text)).toBe(false);
  });
});
