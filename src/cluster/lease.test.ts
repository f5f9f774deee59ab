import { describe, expect, it } from "vitest";
import { connectTo, fakeApi, refuse } from "./api-fixture.ts";
import { startElection } from "./lease.ts";
import { contender, heldBy, leases } from "./lease-fixture.ts";

const PATH = "/apis/coordination.k8s.io/v1/namespaces/berth/leases";

describe("a candidate", () => {
  it("makes the Lease when there is none, and leads", async () => {
    const server = leases();
    const api = await fakeApi(server);
    const { election, calls } = await contender(api);
    await expect.poll(() => election.isLeader()).toBe(true);
    expect(calls).toEqual(["started"]);
    expect(api.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual([`GET ${PATH}/binder`, `POST ${PATH}`]);
    expect(server.lease()).toMatchObject({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "binder", namespace: "berth" },
      spec: { holderIdentity: "me", leaseDurationSeconds: 15, leaseTransitions: 0 },
    });
    expect(election.state()).toMatchObject({ leader: true, holder: "me", transitions: 0, renewedAgo: 0 });
  });

  it("writes every time with exactly six digits after the second (client-js #828)", async () => {
    const api = await fakeApi(leases());
    const { until } = await contender(api);
    await until(() => api.arrived.length >= 3);
    for (const { text } of api.arrived.slice(1)) {
      expect(text).toMatch(/"acquireTime":"[-\dT:]+\.\d{6}Z"/);
      expect(text).toMatch(/"renewTime":"[-\dT:]+\.\d{6}Z"/);
    }
  });

  it("does not lead while writes are answered 400, and tells why from the first one on (client-js #828)", async () => {
    const api = await fakeApi(({ method }, answer) => {
      if (method === "GET") refuse(answer, 404, "NotFound");
      else refuse(answer, 400, "BadRequest", "invalid renewTime");
    });
    const { election, calls, until } = await contender(api);
    await expect.poll(() => election.state().problem).toContain("400 BadRequest: invalid renewTime");
    expect(election.state()).toMatchObject({ leader: false, holder: "" });
    expect(calls).toEqual([]);
    api.behave(leases());
    await until(() => api.arrived.length >= 4);
    await expect.poll(() => election.isLeader()).toBe(true);
    expect(election.state().problem).toBeUndefined();
  });

  it("waits in line without a problem while another one is alive", async () => {
    const server = leases(heldBy("other"));
    const api = await fakeApi(server);
    const { election, timing, until } = await contender(api);
    for (let turn = 1; turn <= 15; turn++) {
      await until(() => api.arrived.length >= turn);
      server.touch({ renewTime: "1970-01-01T00:00:00.000000Z" });
    }
    expect(timing.elapsed()).toBeGreaterThan(25_000);
    expect(election.state()).toEqual({ leader: false, holder: "other", transitions: 4 });
    expect(api.arrived.every(({ method }) => method === "GET")).toBe(true);
  });

  it("takes over once the Lease has not changed for its own duration, whatever its times say", async () => {
    const far = { leaseDurationSeconds: 40, renewTime: "2199-01-01T00:00:00.000000Z" };
    const server = leases(heldBy("other", far));
    const api = await fakeApi(server);
    const { election, timing, until } = await contender(api);
    await expect.poll(() => api.arrived.length).toBe(1);
    await until(() => election.isLeader());
    expect(election.isLeader()).toBe(true);
    expect(timing.elapsed()).toBeGreaterThanOrEqual(40_000);
    expect(timing.elapsed()).toBeLessThan(44_000);
    expect(server.lease()).toMatchObject({
      metadata: { labels: { kept: "yes" } },
      spec: { holderIdentity: "me", leaseDurationSeconds: 15, leaseTransitions: 5 },
    });
  });

  it("takes a Lease that was given back at once", async () => {
    const api = await fakeApi(leases(heldBy("")));
    const { election, timing } = await contender(api);
    await expect.poll(() => election.isLeader()).toBe(true);
    expect(timing.elapsed()).toBe(0);
    expect(election.state().transitions).toBe(5);
  });
});

describe("a leader", () => {
  it("renews with one write each time, keeps its acquire time, and stays the leader", async () => {
    const server = leases();
    const api = await fakeApi(server);
    const { election, timing, calls, until } = await contender(api);
    await until(() => api.arrived.length >= 2);
    const acquired = Object(server.lease()?.["spec"])["acquireTime"];
    await until(() => api.arrived.length >= 12);
    expect(timing.elapsed()).toBeGreaterThanOrEqual(20_000);
    expect(api.arrived.slice(2).every(({ method }) => method === "PUT")).toBe(true);
    await expect.poll(() => election.isLeader()).toBe(true);
    expect(calls).toEqual(["started"]);
    expect(Object(server.lease()?.["spec"])["acquireTime"]).toBe(acquired);
    expect(election.state().transitions).toBe(0);
  });

  it("steps down ten seconds after its last renewal while the server hangs, before anybody may take over", async () => {
    const api = await fakeApi(leases());
    const { election, timing, calls } = await contender(api);
    await expect.poll(() => election.isLeader()).toBe(true);
    api.behave(() => undefined);
    timing.pass(9_999);
    expect([election.isLeader(), calls]).toEqual([true, ["started"]]);
    timing.pass(1);
    expect([election.isLeader(), calls]).toEqual([false, ["started", "stopped"]]);
  });

  it("does not lead any more when its time is over, although no timer has run", async () => {
    let late = 0;
    const api = await fakeApi(leases());
    const { election, calls } = await contender(api, (timing) => ({
      ...timing,
      elapsed: () => timing.elapsed() + late,
    }));
    await expect.poll(() => election.isLeader()).toBe(true);
    late = 10_000;
    expect([election.isLeader(), calls]).toEqual([false, ["started"]]);
  });

  it("stops at once when somebody else turns out to hold the Lease", async () => {
    const server = leases();
    const api = await fakeApi(server);
    const { election, calls, until } = await contender(api);
    await expect.poll(() => election.isLeader()).toBe(true);
    server.touch({ holderIdentity: "thief" });
    await until(() => api.arrived.length >= 4);
    await expect.poll(() => calls).toEqual(["started", "stopped"]);
    expect(election.state()).toMatchObject({ leader: false, holder: "thief" });
  });

  it("leads again after it has stepped down, when the server is back and nobody took over", async () => {
    const server = leases();
    const api = await fakeApi(server);
    const { election, timing, calls, until } = await contender(api);
    await expect.poll(() => election.isLeader()).toBe(true);
    api.behave((_, answer) => answer.destroy());
    timing.pass(10_000);
    expect(election.isLeader()).toBe(false);
    api.behave(server);
    await until(() => election.isLeader());
    expect(calls).toEqual(["started", "stopped", "started"]);
    expect(election.state().transitions).toBe(0);
  });

  it("gives the Lease back when it is stopped, after it has stepped down", async () => {
    const server = leases();
    const api = await fakeApi(server);
    const { election, calls } = await contender(api);
    await expect.poll(() => election.isLeader()).toBe(true);
    const stopped = election.stop();
    expect([election.isLeader(), calls]).toEqual([false, ["started", "stopped"]]);
    await stopped;
    expect(server.lease()).toMatchObject({
      spec: { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 },
    });
  });

  it("does not give back what is another's by now", async () => {
    const server = leases();
    const api = await fakeApi(server);
    const { election } = await contender(api);
    await expect.poll(() => election.isLeader()).toBe(true);
    server.touch({ holderIdentity: "other" });
    await election.stop();
    expect(server.lease()).toMatchObject({ spec: { holderIdentity: "other" } });
  });
});

it("an election is refused when its times would let two lead", async () => {
  const api = await fakeApi(leases());
  const connection = await connectTo(api);
  const times = [{ duration: 10_000 }, { duration: 15_500 }, { renewDeadline: 2_000 }, { retryPeriod: 9_000 }];
  for (const wrong of times) {
    const options = { connection, namespace: "berth", name: "binder", identity: "me", ...wrong };
    expect(() => startElection(options)).toThrow(RangeError);
  }
});
