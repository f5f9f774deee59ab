import type { Interned } from "./interned.ts";
import { type Mutant, type Process, type ProcessEvent, type ProcessView, startProcess } from "./process.ts";

/** A binder after some events. Two binders of the same name after the same events are the same moment. */
export interface Moment {
  readonly id: number;
  readonly view: ProcessView;
}

/** The behaviour of binders, learned by running them. */
export interface Behaviour {
  /** A binder that has just started. */
  root(name: string): Moment;
  /** What becomes of a binder by an event. A promise the first time only. */
  after(moment: Moment, event: ProcessEvent): Moment | Promise<Moment>;
  /** How many moments had to be run. */
  moments(): number;
}

interface Learned extends Moment {
  readonly name: string;
  readonly history: readonly ProcessEvent[];
  readonly next: Map<string, Learned>;
  /** The process that stands at this moment, until it is taken further. */
  process?: Process;
}

/** Whose behaviour is learned. */
export interface Subject {
  readonly interned: Interned;
  readonly mutant?: Mutant | undefined;
  /** True when ledgers get lost: then a binder remembers more than its ledgers, namely what it saw closed. */
  readonly losses: boolean;
}

/**
 * The protocol is deterministic but for the events that reach it, so what a binder does next depends on its events
 * alone. Each history is run once, on the real code; from then on it is known, and an explorer that goes through a
 * million states of a whole system starts a few thousand binders.
 */
export function learnBehaviour({ interned, mutant, losses }: Subject): Behaviour {
  const roots = new Map<string, Learned>();
  const rests = new Map<string, Learned>();
  let ids = 0;

  const learn = async (before: Learned, event: ProcessEvent, key: string): Promise<Learned> => {
    const { name } = before;
    const history = [...before.history, event];
    const process = before.process ?? (await replay(name, before.history, mutant));
    delete before.process;
    await process.apply(event);
    const view = process.view();
    const rest = view.running > 0 || losses ? undefined : rests.get(restOf(name, view));
    const learned: Learned =
      rest === undefined
        ? { id: ids++, name, history, view, next: new Map(), process }
        : { id: rest.id, name, history, view, next: rest.next };
    if (view.running === 0) rests.set(restOf(name, view), rest ?? learned);
    before.next.set(key, learned);
    return learned;
  };

  return {
    root(name) {
      const known = roots.get(name);
      if (known !== undefined) return known;
      const process = startProcess(name, mutant);
      const root: Learned = { id: ids++, name, history: [], view: process.view(), next: new Map(), process };
      roots.set(name, root);
      return root;
    },
    after(moment, event) {
      const before = moment as Learned;
      const key =
        "start" in event ? JSON.stringify(event) : `${event.answer} ${interned.idOf(event.outcome)} ${event.passes}`;
      return before.next.get(key) ?? learn(before, event, key);
    },
    moments: () => ids,
  };
}

/** A binder that rests is what it remembers. */
function restOf(name: string, { memory, ids }: ProcessView): string {
  return `${name} ${ids} ${memory}`;
}

async function replay(name: string, history: readonly ProcessEvent[], mutant: Mutant | undefined): Promise<Process> {
  const process = startProcess(name, mutant);
  for (const event of history) await process.apply(event);
  return process;
}
