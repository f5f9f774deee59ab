import type { JsonObject } from "../protocol/json.ts";
import { afterTest, type Behaviour, connectTo, type FakeApi, fakeTiming, refuse, reply } from "./api-fixture.ts";
import { type Election, type ElectionOptions, startElection } from "./lease.ts";
import type { Timing } from "./timing.ts";

/** An API server that keeps one Lease. */
export function leases(
  start?: JsonObject,
): Behaviour & { lease: () => JsonObject | undefined; touch: (spec: object) => void } {
  let lease = start;
  let version = 7;
  const store = (body: JsonObject): JsonObject => {
    version++;
    lease = { ...body, metadata: { ...Object(body["metadata"]), uid: "u", resourceVersion: String(version) } };
    return lease;
  };
  const behaviour: Behaviour = ({ method, body }, answer) => {
    const current = String(Object(Object(lease)["metadata"])["resourceVersion"]);
    if (method === "POST") reply(answer, 201, store(body));
    else if (lease === undefined) refuse(answer, 404, "NotFound");
    else if (method === "GET") reply(answer, 200, lease);
    else if (Object(body["metadata"])["resourceVersion"] !== current) refuse(answer, 409, "Conflict");
    else reply(answer, 200, store(body));
  };
  return Object.assign(behaviour, {
    lease: () => lease,
    touch: (spec: object) => void store({ ...lease, spec: { ...Object(lease?.["spec"]), ...spec } }),
  });
}

/** A Lease in somebody's hands. */
export function heldBy(holderIdentity: string, spec: object = {}): JsonObject {
  return {
    metadata: { name: "binder", namespace: "berth", uid: "u", resourceVersion: "7", labels: { kept: "yes" } },
    spec: { holderIdentity, leaseDurationSeconds: 15, leaseTransitions: 4, ...spec },
  };
}

/** A candidate whose time passes only while it waits, and never while a call is under way. */
export interface Contender {
  readonly election: Election;
  readonly timing: ReturnType<typeof fakeTiming>;
  /** What it was told: `started`, `stopped`. */
  readonly calls: string[];
  /** Lets time pass until a condition holds, for five minutes at most. */
  until(condition: () => boolean): Promise<void>;
}

/** Starts one, stopped after the test. */
export async function contender(
  api: FakeApi,
  wrap: (timing: Timing) => Timing = (timing) => timing,
): Promise<Contender> {
  const timing = fakeTiming();
  const calls: string[] = [];
  const connection = await connectTo(api);
  let underWay = 0;
  const call: ElectionOptions["connection"]["call"] = async (asked) => {
    underWay++;
    return connection.call(asked).finally(() => underWay--);
  };
  const election = startElection({
    connection: { call },
    namespace: "berth",
    name: "binder",
    identity: "me",
    timing: wrap(timing),
    onStarted: () => void calls.push("started"),
    onStopped: () => void calls.push("stopped"),
  });
  afterTest(() => {
    api.behave((_, answer) => answer.destroy());
    return election.stop();
  });
  const until = async (condition: () => boolean): Promise<void> => {
    const end = timing.elapsed() + 300_000;
    while (!condition() && timing.elapsed() < end) {
      await new Promise((resolve) => setImmediate(resolve));
      if (underWay === 0 && !condition()) timing.pass(100);
    }
  };
  return { election, timing, calls, until };
}
