import { describe, expect, it } from "vitest";
import { conditions } from "./parts.ts";

function setUp(stuck: readonly string[]) {
  const state = { resource: "pods", synced: false, problem: "nobody listens" };
  return conditions(
    { caches: { states: () => [state] } as never, governing: { problems: () => [] } as never },
    {
      election: { isLeader: () => false, state: () => ({ leader: false, problem: "forbidden" }) } as never,
      events: { state: () => ({}) } as never,
      isStopping: () => false,
    },
    () => stuck,
  );
}

describe("the scheduler's probes", () => {
  it("call for a restart when the program makes no progress, with what shows it", () => {
    const sentence = "the decision about a pod has not ended for 121 s";
    expect(setUp([sentence]).alive().problems).toEqual([sentence]);
  });

  it("call for no restart because of an API server that is away or refuses: that would cure nothing", () => {
    const { alive, ready } = setUp([]);
    expect(alive().problems).toEqual([]);
    expect(ready().problems).toEqual(["pods: not read yet: nobody listens", "the Lease cannot be had: forbidden"]);
  });
});
