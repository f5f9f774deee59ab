import type { JsonObject } from "../../protocol/json.ts";
import { type Binder, bindPod } from "../bind.ts";
import { createCleaner } from "../cleaner.ts";
import { createLanes } from "../lanes.ts";
import { readLedger } from "../ledger.ts";
import type { PlacedNode } from "../model.ts";
import type { PlacementPorts } from "../ports.ts";
import { ASSUME_TIME, type Call, DEVICE, placedPod } from "./world.ts";

/** Something that a binder is asked to do. */
export type Operation = BindOperation | { readonly clean: string };

export interface BindOperation {
  readonly bind: string;
  readonly uid: string;
  readonly node: string;
  /** The pod as an informer showed it once. */
  readonly seen?: JsonObject;
}

/** A request that a binder has made and whose answer it waits for. */
export interface Parked {
  /** Counts the requests of this process. */
  readonly id: number;
  readonly call: Call;
}

/** What happens to a binder from outside: all that its behaviour depends on. */
export type ProcessEvent =
  | { readonly start: Operation }
  | {
      readonly answer: number;
      readonly outcome: JsonObject /** How often the closing time has passed. */;
      readonly passes: number;
    };

/** A binder at rest: nothing more happens in it until the next event. */
export interface ProcessView {
  readonly parked: readonly Parked[];
  readonly running: number;
  /** What it remembers of the ledgers while nothing runs in it. */
  readonly memory: string;
  /** How many ids it has given. */
  readonly ids: number;
  /** What the operations have come to, in the order of their ends. */
  readonly results: readonly string[];
}

/** A faulty protocol, made by changing what it says to the API server and hears from it. */
export interface Mutant {
  all?(ports: PlacementPorts): PlacementPorts;
  /** Only what the cleaner says and hears, beside the ledger. */
  clean?(ports: PlacementPorts): PlacementPorts;
}

/** A running binder process: the real protocol over ports that park every request. */
export interface Process {
  apply(event: ProcessEvent): Promise<void>;
  view(): ProcessView;
}

/** How long a ledger made anew stays closed in here, in milliseconds. */
export const CLOSED_FOR = 75_000;
export const EPOCH_START = 1_000_000_000_000;

/** The names that nodes have in here. */
const NODES = ["n", "m"];

/** A node with one device that is big enough for one pod. */
export function nodeNamed(name: string): PlacedNode {
  return { name, uid: `${name}-uid`, devices: [{ id: "0", total: 1n, healthy: true }], object: {} };
}

/** Starts a binder with an empty memory. The name makes its claim ids unlike those of others. */
export function startProcess(name: string, mutant: Mutant = {}): Process {
  const { honest, parked, answer } = parkingPorts();
  const results: string[] = [];
  let running = 0;
  let ids = 0;
  let passes = 0;
  const ports = mutant.all?.(honest) ?? honest;
  const clock = { now: () => EPOCH_START + passes * CLOSED_FOR, elapsed: () => passes * CLOSED_FOR };
  const context = { ports, clock, newId: () => `${name}.${ids++}`, placedPod, closedFor: CLOSED_FOR };
  const lanes = createLanes(context);
  const cleaning = { ...context, ports: mutant.clean?.(ports) ?? ports };

  const begin = async (operation: Operation): Promise<void> => {
    running += 1;
    const asked = "clean" in operation ? clean(cleaning, lanes, operation.clean) : bind(context, lanes, operation);
    results.push(await asked);
    running -= 1;
  };

  return {
    async apply(event) {
      if ("start" in event) void begin(event.start);
      else {
        passes = event.passes;
        answer(event.answer, event.outcome);
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
    view() {
      const memory = running > 0 ? "" : JSON.stringify(NODES.map(lanes.peek), (_, value) => plain(value));
      return { parked: parked(), running, memory, ids, results: [...results] };
    },
  };
}

function parkingPorts() {
  const waiting = new Map<number, { call: Call; resolve: (outcome: JsonObject) => void }>();
  let calls = 0;
  const ask = (op: Call["op"]) => (argument: unknown) => {
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    waiting.set(calls++, { call: { op, argument }, resolve });
    return promise as Promise<never>;
  };
  const honest: PlacementPorts = {
    readPod: ask("readPod"),
    listPodsOnNode: ask("listPodsOnNode"),
    postBinding: ask("postBinding"),
    markRevoked: ask("markRevoked"),
    readLedger: ask("readLedger"),
    createLedger: ask("createLedger"),
    updateLedger: ask("updateLedger"),
  };
  return {
    honest,
    parked: () => Array.from(waiting, ([id, { call }]) => ({ id, call })),
    answer(id: number, outcome: JsonObject) {
      const call = waiting.get(id);
      waiting.delete(id);
      call?.resolve(outcome);
    },
  };
}

function plain(value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

async function bind(context: Binder["context"], lanes: Binder["lanes"], operation: BindOperation): Promise<string> {
  const { bind, uid, node, seen } = operation;
  const pod = seen === undefined ? {} : { seen: placedPod(seen) };
  const request = { namespace: "default", name: bind, uid, node: nodeNamed(node), ...pod };
  const answer = await bindPod({ context, lanes, contract }, request);
  return `${bind} ${answer.kind}${answer.kind === "refused" ? ` ${answer.cause}` : ""}`;
}

/** Sees claims only, never a bound pod: an informer that is late for ever. */
const contract: Binder["contract"] = {
  choose(_, node, claims) {
    const slot = node.devices.find(({ id }) => claims.every(({ device }) => device !== id));
    return slot === undefined ? { refusal: "full" } : { slot };
  },
  annotations: ({ slot, assumeTime }) => ({ [DEVICE]: slot.id, [ASSUME_TIME]: String(assumeTime) }),
};

/** One tick of a cleaner for which every claim is overdue: no length of time is safe to rely on. */
async function clean(context: Binder["context"], lanes: Binder["lanes"], name: string): Promise<string> {
  const read = await context.ports.readLedger(name);
  const reading = read.kind === "found" ? readLedger(read.object, name) : undefined;
  if (reading?.kind !== "ledger") return "clean nothing";
  const cleaner = createCleaner({ context, lanes, seen: () => undefined, graceTime: 0 });
  const { ended, revoked } = await cleaner.tick([{ node: nodeNamed(name), ledger: reading.ledger }]);
  return `clean ${ended} ended ${revoked} revoked`;
}
