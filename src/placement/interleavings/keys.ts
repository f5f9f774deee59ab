import type { Interned } from "./interned.ts";
import type { Scenario, State } from "./system.ts";

/** Names states: two with the same key have the same future, but for the names of claims. */
export function createKeys(scenario: Scenario, { idOf }: Interned): (state: State) => string {
  const masks = Array.from(new Set(scenario.operations.map(({ process }) => process)), (name) => {
    return { name, mask: maskOf(scenario, name) };
  });
  const losses = (scenario.incidents ?? []).some(({ loss }) => loss);
  return (state) => {
    const { world, binders: _, late, ...counters } = state;
    const binders = masks.map(({ name, mask }) => {
      return (state.started & mask) === mask ? done(state, name, losses) : binderKey(state, name, losses);
    });
    const sent = late.map(({ call, since }) => `${idOf(call)}/${since}`).sort();
    return [idOf(world), ...binders, ...sent, "", ...Object.values(counters)].join(" ");
  };
}

/** A binder that has nothing left to do is like any other such binder, whatever it remembers. */
function done(state: State, name: string, losses: boolean): string {
  return state.binders[name]?.moment.view.running === 0 ? "-" : binderKey(state, name, losses);
}

/** A binder that rests is what it remembers; one that works is its whole history, and when it sent what is on its way. */
function binderKey({ binders }: State, name: string, losses: boolean): string {
  const binder = binders[name];
  if (binder === undefined) return "";
  const { id, view } = binder.moment;
  if (losses) return `${id}${JSON.stringify(binder.since)}`;
  return view.running === 0 ? `${binder.life}${view.memory}` : `${id}`;
}

function maskOf({ operations }: Scenario, name: string): number {
  return operations.reduce((bits, { process }, index) => bits | (process === name ? 1 << index : 0), 0);
}
