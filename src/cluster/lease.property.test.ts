import * as fc from "fast-check";
import { expect, it } from "vitest";
import { connectionTo, createServer, createWorld, type Fate, type Machine, machine } from "./election-fixture.ts";
import { type Election, startElection } from "./lease.ts";

const mostly = (usual: fc.Arbitrary<number>, rare: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: rare });
const delay = mostly(fc.nat(200), fc.nat(30_000));
const fates = fc.array(
  fc.record({
    there: delay,
    back: delay,
    broken: fc.oneof(
      { weight: 8, arbitrary: fc.constant("no" as const) },
      { weight: 1, arbitrary: fc.constantFrom("never arrives" as const, "500 after it took effect" as const) },
    ),
  }),
  { minLength: 10, maxLength: 60 },
);
const happenings = fc.array(
  fc.record({
    at: fc.nat(150_000),
    who: fc.nat(2),
    what: fc.constantFrom("stop", "crash", "freeze", "cut", "cut the leader"),
    ms: fc.nat(40_000),
  }),
  { maxLength: 8 },
);
const speeds = fc.tuple(...[0, 1, 2].map(() => fc.double({ min: 0.9, max: 1.1, noNaN: true })));
const walls = fc.array(fc.integer({ min: 0, max: Date.UTC(2100, 0) }), { minLength: 5, maxLength: 20 });

const script = fc.record({ fates, happenings, speeds, walls });

type Happening = { readonly at: number; readonly who: number; readonly what: string; readonly ms: number };

/** Until then, in milliseconds, everything may happen; afterwards nothing does. */
const CALM = 150_000;

interface Script {
  readonly fates: readonly Fate[];
  readonly happenings: readonly Happening[];
  readonly speeds: readonly number[];
  readonly walls: readonly number[];
}

/** Three seats for candidates that come and go in one world. */
function stage({ fates, happenings, speeds, walls }: Script) {
  const world = createWorld();
  const server = createServer();
  let turn = 0;
  const next = <T>(list: readonly T[]): T => list[turn++ % list.length] as T;
  const fate = (): Fate => (world.time() < CALM ? next(fates) : { there: 5, back: 5, broken: "no" });
  const seats: { readonly election: Election; readonly process: Machine }[] = [];
  const alive = new Set<Election>();
  const told = new Map<string, number>();
  const begin = (seat: number, identity: string): void => {
    const process = machine(world, speeds[seat] ?? 1, () => next(walls));
    const tell = (by: number) => (): void => void told.set(identity, (told.get(identity) ?? 0) + by);
    const election = startElection({
      connection: connectionTo(world, server.handle, { ...process, fate }),
      namespace: "berth",
      name: "binder",
      identity,
      timing: process.timing,
      onStarted: tell(1),
      onStopped: tell(-1),
    });
    seats[seat] = { election, process };
    alive.add(election);
  };
  const happen = ({ who, what, ms }: Happening, index: number): void => {
    const { election, process } = seats[who] ?? expect.fail("nobody is there");
    const replace = (): void => begin(who, `candidate-${who}-${index + 1}`);
    const acts: Readonly<Record<string, () => void>> = {
      freeze: () => process.freeze(ms),
      cut: () => process.cut(ms),
      "cut the leader": () => seats.find((each) => each.election.isLeader())?.process.cut(ms),
      stop: () => {
        void election.stop();
        replace();
      },
      crash: () => {
        process.freeze(Number.POSITIVE_INFINITY);
        alive.delete(election);
        replace();
      },
    };
    acts[what]?.();
  };
  for (const seat of [0, 1, 2]) begin(seat, `candidate-${seat}-0`);
  for (const [index, each] of happenings.entries()) world.at(each.at, () => happen(each, index));
  for (let tick = 0; tick < CALM; tick += 500) world.at(tick, () => undefined);
  return {
    until: world.until,
    leaders: () => [...alive].filter((election) => election.isLeader()).length,
    told: () => [...told.values()],
    stopAll: () => {
      for (const { election } of seats) void election.stop();
    },
  };
}

it("never two candidates lead at a time, whatever calls, clocks and processes do, and in calm one leads", async () => {
  await fc.assert(
    fc.asyncProperty(script, async (given) => {
      const { until, leaders, told, stopAll } = stage(given);
      const check = (): void => {
        expect(leaders()).toBeLessThanOrEqual(1);
        // Told to start and to stop in turns.
        for (const count of told()) expect([0, 1]).toContain(count);
      };
      await until(CALM + 120_000, check);
      expect(leaders()).toBe(1);
      stopAll();
      await until(CALM + 180_000, check);
      expect(leaders()).toBe(0);
    }),
    { numRuns: 25, endOnFailure: true },
  );
}, 120_000);
