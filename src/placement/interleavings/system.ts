import { field, type JsonObject } from "../../protocol/json.ts";
import type { Behaviour, Moment } from "./behaviour.ts";
import type { Interned } from "./interned.ts";
import { CLOSED_FOR, EPOCH_START, type Operation, type Parked, type ProcessEvent } from "./process.ts";
import { type Call, isWrite, type World } from "./world.ts";

/**
 * A small cluster and everything that may happen in it, each at most once, in any order. A binder that freezes or dies
 * for good needs no step of its own: it is one whose requests are never answered, and every order has room for that.
 */
export interface Scenario {
  readonly world: World;
  /** What kube-scheduler and the clock ask of which binder. */
  readonly operations: readonly { readonly process: string; readonly operation: Operation }[];
  /** Binders that do one thing at a time; the others do all they are asked to at once. */
  readonly serial?: readonly string[];
  /** How many answers may be lost; the request itself arrives before that, later, or never. */
  readonly faults: number;
  /** How many times a binder may die and start again with an empty memory. */
  readonly crashes: number;
  /** What others do to the cluster. */
  readonly incidents?: readonly Incident[];
}

export interface Incident {
  readonly name: string;
  /** True when it destroys a ledger: requests made before may then arrive for 75 s, no longer. */
  readonly loss?: boolean;
  /** The world after it; undefined where it cannot happen. */
  happen(world: World): World | undefined;
}

/** What knows how binders and the API server go on. */
export interface Machine {
  readonly behaviour: Behaviour;
  readonly interned: Interned;
}

/** The whole system at one moment. Never changed. */
export interface State {
  readonly world: World;
  readonly binders: Readonly<Record<string, Running>>;
  /** Requests that nobody waits for any more and that may still arrive. */
  readonly late: readonly Sent[];
  /** One bit for each operation that was started, and for each incident that has happened. */
  readonly started: number;
  readonly happened: number;
  readonly losses: number;
  readonly faults: number;
  readonly crashes: number;
  readonly passes: number;
}

interface Running {
  readonly life: number;
  readonly moment: Moment;
  /** For each request on its way, how many losses had happened when it was made. */
  readonly since: Readonly<Record<number, number>>;
}

interface Sent {
  readonly call: Call;
  readonly since: number;
}

/** Something that can happen next. */
export interface Step {
  readonly label: string;
  take(): State | Promise<State>;
}

const LOST: JsonObject = { kind: "unknown", message: "lost" };

export function firstState(scenario: Scenario, { behaviour, interned }: Machine): State {
  const names = new Set(scenario.operations.map(({ process }) => process));
  const start = (name: string): [string, Running] => [name, { life: 0, moment: behaviour.root(`${name}0`), since: {} }];
  const { world, faults, crashes } = scenario;
  const binders = Object.fromEntries(Array.from(names, start));
  return {
    world: interned.world(world),
    binders,
    late: [],
    started: 0,
    happened: 0,
    losses: 0,
    faults,
    crashes,
    passes: 0,
  };
}

/** Everything that can happen next, each as one atomic step. */
export function steps(scenario: Scenario, machine: Machine, state: State): Step[] {
  return [
    ...starts(scenario, machine, state),
    ...Object.entries(state.binders).flatMap(([name, binder]) => [
      ...binder.moment.view.parked.flatMap((parked) => answers(machine, state, name, parked)),
      ...crash(machine, state, name),
    ]),
    ...state.late.map((sent, index) => ({
      label: `late ${sent.call.op}`,
      take: () => ({
        ...state,
        world: machine.interned.serve(state.world, sent.call).world,
        late: state.late.toSpliced(index, 1),
      }),
    })),
    ...incidents(scenario, machine, state),
    ...pass(state),
  ];
}

function starts({ operations, serial = [] }: Scenario, machine: Machine, state: State): Step[] {
  return operations.flatMap(({ process, operation }, index) => {
    const bit = 1 << index;
    const busy = serial.includes(process) && state.binders[process]?.moment.view.running !== 0;
    if (busy || (state.started & bit) !== 0) return [];
    const begun = { ...state, started: state.started | bit };
    const take = () => proceed(machine, begun, process, { start: operation });
    return [{ label: `${process} starts ${JSON.stringify(operation)}`, take }];
  });
}

/** A request that arrives and is answered; with a fault left, one whose answer is lost, or that is late. */
function answers(machine: Machine, state: State, name: string, { id, call }: Parked): Step[] {
  const answer = (next: State, outcome: JsonObject) =>
    proceed(machine, next, name, { answer: id, outcome, passes: next.passes });
  const served = machine.interned.serve(state.world, call);
  const label = `${name} #${id} ${call.op}`;
  const arrives: Step = { label, take: () => answer({ ...state, world: served.world }, served.outcome) };
  if (state.faults === 0 || !isWrite(call)) return [arrives];
  const faulty = { ...state, faults: state.faults - 1 };
  const sent: Sent = { call, since: state.binders[name]?.since[id] ?? 0 };
  return [
    arrives,
    { label: `${label}, answer lost`, take: () => answer({ ...faulty, world: served.world }, LOST) },
    { label: `${label}, late`, take: () => answer({ ...faulty, late: [...state.late, sent] }, LOST) },
  ];
}

function crash(machine: Machine, state: State, name: string): Step[] {
  const binder = state.binders[name];
  if (binder === undefined || state.crashes === 0 || binder.moment.view.running === 0) return [];
  const life = binder.life + 1;
  const sent = binder.moment.view.parked.filter(({ call }) => isWrite(call));
  const late = sent.map(({ id, call }) => ({ call, since: binder.since[id] ?? 0 }));
  const reborn = { life, moment: machine.behaviour.root(`${name}${life}`), since: {} };
  const binders = { ...state.binders, [name]: reborn };
  const next = { ...state, crashes: state.crashes - 1, binders, late: [...state.late, ...late] };
  return [{ label: `${name} crashes`, take: () => next }];
}

function incidents({ incidents = [] }: Scenario, machine: Machine, state: State): Step[] {
  return incidents.flatMap(({ name, loss = false, happen }, index) => {
    const bit = 1 << index;
    const world = (state.happened & bit) === 0 ? happen(state.world) : undefined;
    if (world === undefined) return [];
    const losses = state.losses + (loss ? 1 : 0);
    return [
      {
        label: name,
        take: () => ({ ...state, world: machine.interned.world(world), losses, happened: state.happened | bit }),
      },
    ];
  });
}

/**
 * 75 seconds pass, which matters to closed ledgers only. By then every Binding and every new ledger that was sent
 * before the last loss has arrived or never will: the one promise of time that the protocol needs.
 */
export function pass(state: State): Step[] {
  const now = EPOCH_START + state.passes * CLOSED_FOR;
  const closed = Object.values(state.world.ledgers).some(({ body }) => closedUntil(body) > now);
  const old = ({ call, since }: Sent) =>
    since < state.losses && (call.op === "postBinding" || call.op === "createLedger");
  const parked = Object.values(state.binders).flatMap(({ moment, since }) =>
    moment.view.parked.map(({ id, call }) => ({ call, since: since[id] ?? 0 })),
  );
  if (!closed || [...state.late, ...parked].some(old)) return [];
  return [{ label: "75 seconds pass", take: () => ({ ...state, passes: state.passes + 1 }) }];
}

/** The state after an event in one binder. */
export function proceed(machine: Machine, state: State, name: string, event: ProcessEvent): State | Promise<State> {
  const binder = state.binders[name];
  if (binder === undefined) throw new Error(`No binder ${name}`);
  const enter = (moment: Moment): State => {
    const since = Object.fromEntries(moment.view.parked.map(({ id }) => [id, binder.since[id] ?? state.losses]));
    return { ...state, binders: { ...state.binders, [name]: { life: binder.life, moment, since } } };
  };
  const moment = machine.behaviour.after(binder.moment, event);
  return moment instanceof Promise ? moment.then(enter) : enter(moment);
}

function closedUntil(ledger: JsonObject): number {
  const until = field(field(ledger, "spec"), "closedUntil");
  return typeof until === "string" ? Date.parse(until) : 0;
}
