import { afterAll, describe, expect, test } from "vitest";
import { type Explored, explore } from "./explore.ts";
import * as mutants from "./mutants.ts";
import type { Mutant } from "./process.ts";
import * as scenarios from "./scenarios.ts";
import type { Scenario } from "./system.ts";

/** Sound scenarios are walked through to the end; on a busy machine the largest takes a while. */
const PATIENCE = 120_000;

const { sleeper, twoLeaders, crashes, oneQueue, twoNodes, recreated, ended, broken, deleted } = scenarios;

describe("over every order of claim, read, bind, revoke, clean, crash, restart and late delivery", () => {
  const seen: Explored[] = [];

  /** At least so many states, for an exploration that has shrunk to nothing proves nothing; and what had to occur. */
  const sound: [string, Scenario, number, string[]][] = [
    ["two binders that both believe they lead bind two pods while a third cleans", twoLeaders, 5_000, ["p unknown"]],
    [
      "one binder sleeps over its pod while another revokes and binds it and a second pod",
      sleeper,
      50_000,
      ["p unknown"],
    ],
    ["a binder dies at any step and starts again without a memory", crashes, 5_000, []],
    ["one binder has two pods in one queue and knows them from its informer", oneQueue, 500, []],
    ["one pod is sent to two nodes", twoNodes, 1_000, ["p refused elsewhere"]],
    ["a pod is deleted and made again under its name", recreated, 2_000, ["p refused replaced"]],
    ["a pod ends, bound or not", ended, 20_000, ["p refused ended", "clean 1 ended 0 revoked"]],
    ["the ledger becomes unreadable at any step", broken, 10_000, ["p refused closed", "q refused closed"]],
    ["the ledger is deleted at any step", deleted, 10_000, ["p refused closed", "q refused closed"]],
  ];
  const always = ["p bound", "q bound", "p refused device", "clean 0 ended 1 revoked"];

  test.each(sound)(
    "no device is given twice and none is lost for good when %s",
    async (_, scenario, atLeast, occur) => {
      const explored = await explore(scenario);
      expect(explored.violation).toBeUndefined();
      expect(explored.states).toBeGreaterThan(atLeast);
      expect(explored.results).toEqual(expect.arrayContaining([...always, ...occur]));
      seen.push(explored);
    },
    PATIENCE,
  );

  afterAll(() => {
    const states = seen.reduce((sum, one) => sum + one.states, 0);
    const interleavings = seen.reduce((sum, one) => sum + one.interleavings, 0n);
    process.stdout.write(
      `interleavings: ${states} states, ${interleavings.toLocaleString("en")} interleavings explored\n`,
    );
  });
});

describe("two pods get one device, and the exploration finds it, when", () => {
  const faulty: [string, Mutant, Scenario][] = [
    ["a Binding carries no resourceVersion", mutants.withoutVersion, twoLeaders],
    ["a claim is dropped before its pod is patched", mutants.dropBeforePatch, twoLeaders],
    ["a claim is dropped and its pod is not patched", mutants.dropWithoutPatch, twoLeaders],
    ["the pod is read after the claim and only its last revocation is looked at", mutants.readAfterClaim, sleeper],
    ["an unreadable ledger is taken as an empty one", mutants.brokenIsEmpty, broken],
    ["a ledger that became unreadable is opened at once", mutants.neverClosed, broken],
    ["a ledger that was deleted is opened at once", mutants.neverClosed, deleted],
    ["a lost answer to a Binding releases the claim", mutants.lostIsRefused, twoLeaders],
    ["the claims of bound pods are dropped", mutants.boundNeedsNoClaim, twoLeaders],
    ["a ledger is written without regard to its version", mutants.blindWrites, twoLeaders],
  ];

  test.each(faulty)(
    "%s",
    async (_, mutant, scenario) => {
      const { violation } = await explore(scenario, { mutant, expect: "double" });
      expect(violation?.what).toMatch(/^[pq] and [pq] both have device 0 of n$/);
      expect(violation?.trail.at(-1)).toMatch(/postBinding/);
    },
    PATIENCE,
  );
});

test("a device is lost for good, and the exploration finds it, when nothing is ever revoked", async () => {
  const { violation } = await explore(twoLeaders, { mutant: mutants.neverRevokes });
  expect(violation?.what).toMatch(/^a claim of [pq] is left on n without its bound pod$/);
});
