import { describe, expect, it } from "vitest";
import { createAttempts } from "./attempts.ts";

const refused = { bound: false, byThis: false, left: false };
const mine = { bound: true, byThis: true, left: false };
const unheard = { ...mine, left: true };
const others = { bound: true, byThis: false, left: false };

describe("who emits Scheduled for a bound pod", () => {
  it("is kube-scheduler when it has heard the answer, and the binder when it had left", () => {
    const attempts = createAttempts();
    expect(attempts.begin("a")(mine)).toBe(false);
    expect(attempts.begin("a")(unheard)).toBe(true);
    expect(attempts.begin("a")(refused)).toBe(false);
  });

  it("is kube-scheduler when a second attempt hears what the first has done, in either order", () => {
    const attempts = createAttempts();
    const [first, second] = [attempts.begin("a"), attempts.begin("a")];
    expect([first(unheard), second(others)]).toEqual([false, false]);
    const [third, fourth] = [attempts.begin("a"), attempts.begin("a")];
    expect([fourth(others), third(unheard)]).toEqual([false, false]);
  });

  it("is the binder, once, when the callers of all attempts had left or were refused", () => {
    const attempts = createAttempts();
    const [first, second, third] = [attempts.begin("a"), attempts.begin("a"), attempts.begin("a")];
    expect([first(unheard), second({ ...others, left: true }), third(refused)]).toEqual([false, false, true]);
  });

  it("is told for each pod on its own", () => {
    const attempts = createAttempts();
    const [one, other] = [attempts.begin("a"), attempts.begin("b")];
    expect(one(unheard)).toBe(true);
    expect(other(unheard)).toBe(true);
  });
});
