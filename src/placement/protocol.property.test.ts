import fc, { type Scheduler } from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { createFakeApi, type FakeApi, LOST } from "./fake-api-fixture.ts";
import { gpuNode } from "./gpu-fixture.ts";
import { ensureLedger } from "./lanes.ts";
import type { PlacedNode } from "./model.ts";
import type { BindingOrder } from "./ports.ts";
import { type BindTarget, createRig, type Hands, type Rig } from "./protocol-fixture.ts";

const NODES = [gpuNode("gpu-1", [2, 16]), gpuNode("gpu-2", [1, 6])];
const BINDERS = 2;
const PODS = 5;

type Command =
  | { readonly bind: number; readonly node: number; readonly by: number }
  | { readonly clean: number; readonly by: number }
  | { readonly end: number }
  | { readonly remove: number }
  | { readonly lose: number };

const by = fc.nat(BINDERS - 1);
const pod = fc.nat(PODS - 1);
const node = fc.nat(NODES.length - 1);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ bind: pod, node, by }) },
  { weight: 6, arbitrary: fc.record({ clean: node, by }) },
  { weight: 1, arbitrary: fc.record({ end: pod }) },
  { weight: 1, arbitrary: fc.record({ remove: pod }) },
  { weight: 1, arbitrary: fc.record({ lose: node }) },
);
/** What becomes of a request: most arrive and are answered. */
const fate = fc.oneof(
  { weight: 6, arbitrary: fc.constant("answered" as const) },
  { weight: 1, arbitrary: fc.constantFrom("never arrives" as const, "answer lost" as const, "late" as const) },
);
const amounts = fc.array(fc.integer({ min: 2, max: 7 }), { minLength: PODS, maxLength: PODS });

interface Cluster {
  readonly api: FakeApi;
  readonly hands: Hands;
  readonly targets: readonly BindTarget[];
  readonly binders: readonly Rig[];
  /** Makes a Binding worse than the protocol made it. */
  readonly spoil?: Spoil | undefined;
}

type Spoil = (order: { resourceVersion?: string }) => void;

/** Two binders that both lead; one sees every pod at once, the other none ever. For their cleaners all is overdue. */
async function createCluster(units: readonly number[], spoil?: Spoil): Promise<Cluster> {
  const api = createFakeApi();
  const hands: Hands = { wall: Date.parse("2026-01-01T00:00:00Z"), elapsed: 0 };
  const targets = units.map((gpu, index) => api.addPod({ uid: `p${index}`, gpu }));
  const options = [{ graceTime: 0 }, { graceTime: 0, believed: () => [] }];
  const binders = options.map((one) => createRig(api, hands, one));
  await settleTime(hands, binders[0] as Rig);
  return { api, hands, targets, binders, spoil };
}

/** Lets closed ledgers open. */
async function settleTime(hands: Hands, rig: Rig): Promise<void> {
  for (const one of NODES) await ensureLedger(rig.binder.lanes, one);
  hands.wall += 75_000;
  hands.elapsed += 75_000;
  for (const one of NODES) await ensureLedger(rig.binder.lanes, one);
}

/**
 * Puts every request in the scheduler's hands, on its way there and back, and gives it its fate. Answers what has been
 * wrong after any of them.
 */
function unsettle({ api, spoil }: Cluster, scheduler: Scheduler, fates: Iterator<string>): readonly string[] {
  const wrong: string[] = [];
  const travel = (label: string) => scheduler.schedule(Promise.resolve(), label);
  api.intercept = async ({ op, argument }, serve) => {
    const fate = String(fates.next().value);
    const arrive = async () => {
      await travel(`${op} ${JSON.stringify(argument)}`);
      if (op === "postBinding") spoil?.(argument as BindingOrder);
      const outcome = fate === "never arrives" ? LOST : serve();
      wrong.push(...overfull(api));
      return fate === "answer lost" ? LOST : outcome;
    };
    const arrived = arrive();
    const outcome = fate === "late" ? LOST : await arrived;
    await travel(`answer to ${op}`);
    return outcome;
  };
  return wrong;
}

function run({ api, targets, binders }: Cluster, asked: Command): Promise<unknown> | undefined {
  const ended = (one: JsonObject) => ({ ...one, status: { phase: "Failed" } });
  if ("bind" in asked) return binders[asked.by]?.bind(targets[asked.bind] as BindTarget, NODES[asked.node]);
  if ("clean" in asked) return binders[asked.by]?.clean(NODES[asked.clean] as PlacedNode);
  if ("end" in asked) api.changePod(`p${asked.end}`, ended);
  if ("remove" in asked) api.changePod(`p${asked.remove}`, () => undefined);
  if ("lose" in asked) api.putLedger(NODES[asked.lose]?.name ?? "", undefined);
  return undefined;
}

/** Devices that hold more than they have, and assume times that two living pods of a node share. */
function overfull(api: FakeApi): string[] {
  const living = api.pods().filter(({ terminal, assigned }) => !terminal && assigned !== undefined);
  return NODES.flatMap(({ name, devices }) => {
    const here = living.filter(({ nodeName }) => nodeName === name);
    const times = here.map(({ assigned }) => assigned?.assumeTime);
    const full = devices.filter(({ id, total }) => {
      const on = here.filter(({ assigned }) => assigned?.device === id);
      return on.reduce((sum, { assigned }) => sum + (assigned?.amount ?? 0n), 0n) > total;
    });
    return [...full.map(({ id }) => `${name}/${id}`), ...(new Set(times).size < times.length ? [`${name} times`] : [])];
  });
}

/** The pods that the ledger promises something to, and those that are bound. */
function heldAndBound(api: FakeApi, name: string): { held: string[]; bound: string[] } {
  const bound = api.pods().filter(({ nodeName, terminal }) => nodeName === name && !terminal);
  const held = api.ledger(name)?.claims.map(({ podUid, device }) => `${podUid} on ${device}`) ?? [];
  return { held: held.sort(), bound: bound.map(({ uid, assigned }) => `${uid} on ${assigned?.device}`).sort() };
}

/** Pods that wait although some device has room for them. */
function idle(api: FakeApi): string[] {
  const waiting = api.pods().filter(({ nodeName, terminal }) => nodeName === "" && !terminal);
  const free = NODES.flatMap(({ name, devices }) =>
    devices.map(({ id, total }) => {
      const on = api.pods().filter((one) => one.nodeName === name && !one.terminal && one.assigned?.device === id);
      return on.reduce((left, { request }) => left - request, total);
    }),
  );
  return waiting.filter(({ request }) => free.some((room) => room >= request)).map(({ uid }) => uid);
}

/** Everything at once, then quiet: an heir waits, cleans and binds what is left. */
const orderly = (spoil?: Spoil) =>
  fc.asyncProperty(
    fc.scheduler(),
    amounts,
    fc.array(command, { minLength: 1, maxLength: 16 }),
    fc.infiniteStream(fate),
    async (scheduler, units, commands, fates) => {
      const cluster = await createCluster(units, spoil);
      const { api, hands, targets } = cluster;
      const wrong = unsettle(cluster, scheduler, fates);
      const all = commands.map((one) => scheduler.schedule(Promise.resolve(), "command").then(() => run(cluster, one)));
      await scheduler.waitFor(Promise.all(all));
      await scheduler.waitAll();
      expect(wrong).toEqual([]);

      api.intercept = (_, serve) => serve();
      const heir = createRig(api, hands, { graceTime: 0, believed: () => [] });
      await settleTime(hands, heir);
      // A pod that was promised devices of two nodes is revoked on one of them in each tick.
      for (const _ of NODES) await heir.clean(...NODES);
      for (const { name } of NODES) {
        const { held, bound } = heldAndBound(api, name);
        expect(held).toEqual(bound);
      }
      for (const target of targets) for (const one of NODES) await heir.bind(target, one);
      expect(overfull(api)).toEqual([]);
      expect(idle(api)).toEqual([]);
    },
  );

test("whatever happens in whatever order, no device holds more than it has, and in the end claims and bound pods agree", async () => {
  await fc.assert(orderly(), { numRuns: 300 });
});

test("Bindings without a resourceVersion are found out by the same property", async () => {
  const spoil: Spoil = (order) => void delete order.resourceVersion;
  const { failed } = await fc.check(orderly(spoil), { numRuns: 3_000, seed: 7, endOnFailure: true });
  expect(failed).toBe(true);
});
