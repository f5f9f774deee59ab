import { describe, expect, it } from "vitest";
import { fakeApi, refuse } from "../cluster/api-fixture.ts";
import type { Election } from "../cluster/lease.ts";
import { contender, heldBy, leases } from "../cluster/lease-fixture.ts";
import { conditions } from "./conditions.ts";
import type { Parts } from "./parts.ts";
import type { PolicyState } from "./policy-metrics.ts";

interface Sketch {
  readonly election?: Election;
  readonly synced?: boolean;
  readonly idle?: number;
  readonly stopping?: boolean;
  readonly policies?: readonly PolicyState[];
}

function of({ election, synced = true, idle = 0, stopping = false, policies = [] }: Sketch) {
  const settled = { isLeader: () => true, state: () => ({ leader: true }) };
  const parts = {
    leadership: { election: election ?? settled, housekeeping: { idleFor: () => idle } },
    caches: {
      states: () => [{ resource: "pods", synced, heardAgo: 7, problem: synced ? undefined : "403 Forbidden" }],
    },
    events: { state: () => ({ sent: 1 }) },
    core: { protocol: { context: { clock: { elapsed: () => 0 } } } },
    stopping,
  };
  return conditions(parts as unknown as Parts, () => policies);
}

describe("readiness while policies come from a function", () => {
  it("fails as long as a profile has none, and not because the function is away", () => {
    const away = { profile: "fleet", source: "function", failures: 3, problem: "nothing listens there" } as const;
    expect(of({ policies: [away] }).ready().problems).toEqual([
      "profile fleet has no policy yet: nothing listens there",
    ]);
    const { ready, alive } = of({ policies: [{ ...away, version: "abc", ageSeconds: 900 }] });
    expect([ready().problems, alive().problems]).toEqual([[], []]);
    expect(alive().facts["policies"]).toMatchObject([{ ageSeconds: 900, problem: "nothing listens there" }]);
  });
});

describe("readiness", () => {
  it("fails within one renewal while the API server answers 400 to the Lease, and holds again after (client-js #828)", async () => {
    const api = await fakeApi(({ method }, answer) => {
      if (method === "GET") refuse(answer, 404, "NotFound");
      else refuse(answer, 400, "BadRequest", "invalid renewTime");
    });
    const { election, until } = await contender(api);
    const { ready } = of({ election });
    await expect.poll(() => ready().problems.join()).toContain("the Lease cannot be had");
    expect(ready().problems).toEqual([expect.stringContaining("400 BadRequest: invalid renewTime")]);
    expect(api.arrived.length).toBeLessThanOrEqual(2);
    api.behave(leases());
    await until(() => election.isLeader());
    expect(ready()).toMatchObject({ problems: [], facts: { leader: true } });
  });

  it("holds for who waits in line, and for a leader whom one renewal has failed", async () => {
    const waiting = await contender(await fakeApi(leases(heldBy("another"))));
    await expect.poll(() => waiting.election.state().holder).toBe("another");
    expect(of(waiting).ready().problems).toEqual([]);
    const api = await fakeApi(leases());
    const leading = await contender(api);
    await expect.poll(() => leading.election.isLeader()).toBe(true);
    api.behave((_, answer) => refuse(answer, 500, "InternalError"));
    await leading.until(() => leading.election.state().problem !== undefined);
    expect(of(leading).ready().problems).toEqual([]);
    await leading.until(() => !leading.election.isLeader());
    expect(of(leading).ready().problems).toEqual([expect.stringContaining("the Lease cannot be had")]);
  });

  it("fails until everything has been read, with the reason, and while stopping", () => {
    expect(of({ synced: false }).ready().problems).toEqual(["pods: not read yet: 403 Forbidden"]);
    expect(of({ stopping: true }).ready().problems).toEqual(["stopping"]);
  });
});

describe("liveness", () => {
  it("fails only when the loop over the ledgers is stuck, and shows how long each watch has been silent (client-js #958)", () => {
    expect(of({}).alive()).toMatchObject({ problems: [], facts: { caches: [{ resource: "pods", heardAgo: 7 }] } });
    expect(of({ synced: false, idle: 120_000 }).alive().problems).toEqual([]);
    expect(of({ idle: 120_001 }).alive().problems).toEqual(["the loop over the ledgers has not ended for 120 s"]);
  });
});
