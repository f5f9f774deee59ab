import type { JsonObject } from "../protocol/json.ts";
import type { FleetFacts } from "./facts.ts";
import { type Lookup, Unreadable, type View, type Views } from "./view.ts";

/** Reads views from an object of the Kubernetes API, or from whatever else they are read from. */
export function objectLookup(object: JsonObject, now: number): Lookup {
  return <T>(view: View<T>) =>
    view.read ? view.read(object, now) : new Unreadable(view.name, "is known only where the cluster is watched");
}

/** Reads views of the fleet, each once: they are indexes over tables that may be large. */
export function fleetLookup(facts: FleetFacts): Lookup {
  const read = new Map<View<unknown>, unknown>();
  return <T>(view: View<T>) => {
    if (!read.has(view)) read.set(view, objectLookup(facts as unknown as JsonObject, 0)(view));
    return read.get(view) as T | Unreadable;
  };
}

/** What one plugin reads, by the names it gives its views. */
export type Facts = Record<string, unknown>;

/** The facts of some views, or the first that cannot be read. */
export function gather(views: Views, lookup: Lookup): Facts | Unreadable {
  const facts: Facts = {};
  for (const key in views) {
    const view = views[key];
    if (!view) continue;
    const value = lookup(view);
    if (value instanceof Unreadable) return value;
    facts[key] = value;
  }
  return facts;
}
