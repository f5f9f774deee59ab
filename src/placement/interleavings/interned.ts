import { type Call, type Served, serve, type World } from "./world.ts";

/** Equal things are one object in here, so that what was worked out for one is found again by identity. */
export interface Interned {
  /** The one object for all worlds equal to this one. */
  world(world: World): World;
  /** A number that equal objects share. */
  idOf(object: object): number;
  /** Serves a request; the same object for the same world and request. */
  serve(world: World, call: Call): Served;
}

/** Works something out once for each object. */
export function once<K extends object, T>(work: (object: K) => T): (object: K) => T {
  const memory = new WeakMap<K, { readonly value: T }>();
  return (object) => {
    const known = memory.get(object) ?? { value: work(object) };
    memory.set(object, known);
    return known.value;
  };
}

export function createInterned(): Interned {
  const byText = new Map<string, { readonly object: object; readonly id: number }>();
  const entry = once((object: object) => {
    const text = JSON.stringify(object);
    const known = byText.get(text) ?? { object, id: byText.size };
    byText.set(text, known);
    return known;
  });
  const one = <T extends object>(object: T) => entry(object).object as T;
  const servedAt = once((_: World) => new Map<Call, Served>());
  return {
    world: one,
    idOf: (object) => entry(object).id,
    serve(world, call) {
      const served = servedAt(one(world));
      const known = served.get(call);
      if (known !== undefined) return known;
      const made = serve(one(world), call);
      const interned = { world: one(made.world), outcome: one(made.outcome) };
      served.set(call, interned);
      return interned;
    },
  };
}
