import { describe, expect, it } from "vitest";
import { failedSchedulingEvent, fitMessage, noteText, scheduledEvent } from "./reasons.ts";

const POD = { namespace: "shop", name: "web-0", uid: "u" };

describe("the words of events", () => {
  it("count each reason and sort the counts as text, as kube-scheduler does", () => {
    const reasons = [["Insufficient cpu", "Insufficient memory"], ["Insufficient cpu"], ["node(s) were unschedulable"]];
    const eleven = Array.from({ length: 11 }, () => ["Too many pods"]);
    expect(fitMessage(14, [...reasons, ...eleven])).toBe(
      "0/14 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable, 11 Too many pods, 2 Insufficient cpu.",
    );
  });

  it("name pod and node of an assignment", () => {
    expect(scheduledEvent(POD, "node-1")).toMatchObject({
      type: "Normal",
      reason: "Scheduled",
      action: "Binding",
      note: "Successfully assigned shop/web-0 to node-1",
      regarding: { kind: "Pod", namespace: "shop", name: "web-0", uid: "u" },
    });
  });

  it("never have more than 1,024 bytes, and are not cut within a character", () => {
    expect(noteText("short")).toBe("short");
    const long = noteText("ü".repeat(600));
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(1_024);
    expect(long).toMatch(/^ü+ \.\.\.$/);
    expect(failedSchedulingEvent(POD, "x".repeat(2_000)).note).toBe(`${"x".repeat(1_020)} ...`);
  });
});
