import { readLedger } from "../ledger.ts";
import { holdsDevice } from "./invariants.ts";
import type { Operation } from "./process.ts";
import { type Machine, pass, proceed, type Scenario, type State } from "./system.ts";
import type { World } from "./world.ts";

/** Shows from every state that not all is lost. */
export interface Hope {
  /**
   * Walks one way on from the state: every binder dies, what was late arrives, a new binder cleans and then binds a pod
   * that waits. Answers what is wrong on it: a claim without its bound pod, or a free device that cannot be had.
   */
  lostAt(state: State): Promise<string | undefined>;
  walked(): number;
}

const JANITOR = "janitor";

export function createHope({ world: { ledgers } }: Scenario, machine: Machine): Hope {
  const known = new Map<string, string | undefined>();
  const nodes = Object.keys(ledgers);
  return {
    async lostAt(state) {
      const { idOf } = machine.interned;
      const key = [idOf(state.world), state.passes, ...state.late.map(({ call }) => idOf(call))].join(" ");
      if (!known.has(key)) known.set(key, await walk(machine, state, nodes));
      return known.get(key);
    },
    walked: () => known.size,
  };
}

async function walk(machine: Machine, from: State, nodes: readonly string[]): Promise<string | undefined> {
  const world = from.late.reduce((now, { call }) => machine.interned.serve(now, call).world, from.world);
  const janitor = { life: 0, moment: machine.behaviour.root(JANITOR), since: {} };
  let state: State = { ...from, world, late: [], binders: { [JANITOR]: janitor } };
  for (const node of nodes) {
    state = await clean(machine, state, node);
    const before = leakIn(state.world, node);
    if (before !== undefined) return before;
    state = await bindWaiting(machine, state, node);
    const after = idleDevice(state.world, node) ?? leakIn(state.world, node);
    if (after !== undefined) return after;
  }
  return undefined;
}

/** Two ticks, with time for a closed ledger to open. */
async function clean(machine: Machine, from: State, node: string): Promise<State> {
  const state = await finish(machine, await wait(from), { clean: node });
  return finish(machine, state, { clean: node });
}

/** Asks for a pod that waits, and once more after a ledger had to be made anew. */
async function bindWaiting(machine: Machine, from: State, node: string): Promise<State> {
  const waiting = Object.entries(from.world.pods).find(([, pod]) => pod.node === "" && !pod.ended);
  if (waiting === undefined) return from;
  const bind = { bind: waiting[0], uid: waiting[1].uid, node };
  const state = await finish(machine, from, bind);
  const again = await finish(machine, await wait(state), bind);
  return clean(machine, again, node);
}

async function wait(state: State): Promise<State> {
  const [later] = pass(state);
  return later === undefined ? state : later.take();
}

/** Runs one operation of the janitor to its end, every request answered at once. */
async function finish(machine: Machine, from: State, operation: Operation): Promise<State> {
  let state = await proceed(machine, from, JANITOR, { start: operation });
  for (;;) {
    const [parked] = state.binders[JANITOR]?.moment.view.parked ?? [];
    if (parked === undefined) return state;
    const { world, outcome } = machine.interned.serve(state.world, parked.call);
    const { passes } = state;
    state = await proceed(machine, { ...state, world }, JANITOR, { answer: parked.id, outcome, passes });
  }
}

/** With a free device and a pod that waits, binding it has to work. */
function idleDevice({ pods }: World, node: string): string | undefined {
  const taken = Object.values(pods).some((pod) => pod.node === node && holdsDevice(pod));
  const waiting = Object.entries(pods).find(([, pod]) => pod.node === "" && !pod.ended);
  if (taken || waiting === undefined) return undefined;
  return `${waiting[0]} cannot be bound to ${node} although its device is free`;
}

/** A ledger that is missing or broken holds nothing; it is made anew when a pod asks for a device. */
function leakIn({ pods, ledgers }: World, node: string): string | undefined {
  const ledger = ledgers[node];
  if (ledger === undefined) return undefined;
  const metadata = { name: node, resourceVersion: String(ledger.version) };
  const reading = readLedger({ ...ledger.body, metadata }, node);
  if (reading.kind !== "ledger") return undefined;
  if (reading.ledger.closedUntil !== 0) return `the ledger of ${node} stays closed`;
  const holds = (podUid: string) =>
    Object.values(pods).some((pod) => pod.uid === podUid && pod.node === node && holdsDevice(pod));
  const left = reading.ledger.claims.find(({ podUid }) => !holds(podUid));
  return left === undefined ? undefined : `a claim of ${left.podName} is left on ${node} without its bound pod`;
}
