import { expect, it } from "vitest";
import { eventually, stays } from "./eventually.ts";

const brief = { within: 50, every: 5 };

it("gives what the probe finds at last", async () => {
  let times = 0;
  const found = await eventually("it is found", () => {
    times += 1;
    return times < 3 ? undefined : "found";
  });
  expect(found).toBe("found");
});

it("says what was awaited and what was seen last when the time is up", async () => {
  const waiting = eventually(
    "the pod is bound",
    (saw) => {
      saw({ phase: "Pending" });
      return false;
    },
    brief,
  );
  await expect(waiting).rejects.toThrow("not within 0.05 s: the pod is bound. Seen last: { phase: 'Pending' }");
});

it("takes a probe's error for what was seen", async () => {
  const waiting = eventually(
    "the server answers",
    () => {
      throw new Error("connection refused");
    },
    brief,
  );
  await expect(waiting).rejects.toThrow("Seen last: connection refused");
});

it("notices that what should stay has changed", async () => {
  const counts = [1, 2];
  const watching = stays("the number of calls", () => counts.shift(), 1_000);
  await expect(watching).rejects.toThrow("changed: the number of calls. First 1, then 2");
});
