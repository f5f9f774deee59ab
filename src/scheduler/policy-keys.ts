import type { PathFault } from "../policy/faults.ts";
import { isObject, type Json } from "../protocol/json.ts";

/** Every key of a Policy file as it is spelled here. Go reads them in any casing, and files have used several. */
const KEYS: ReadonlyMap<string, string> = new Map(
  [
    ...["kind", "apiVersion", "predicates", "priorities", "extenders"],
    ...["hardPodAffinitySymmetricWeight", "alwaysCheckAllPredicates"],
    ...["name", "weight", "urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb", "enableHTTPS"],
    ...["tlsConfig", "httpTimeout", "nodeCacheCapable", "managedResources", "ignoredByScheduler", "ignorable"],
    ...["insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"],
  ].map((key) => [key.toLowerCase(), key]),
);

/** The same data with its keys spelled as here. Keys that are not known stay as they are. */
export function withKnownKeys(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(withKnownKeys);
  if (!isObject(data)) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [known(key), withKnownKeys(value)]));
}

/** A fault of that data, at the place where it stands in the file. */
export function asSpelled(data: unknown, fault: PathFault): PathFault {
  let place = data as Json | undefined;
  const path = fault.path.map((step) => {
    const key = isObject(place) ? (Object.keys(place).findLast((each) => known(each) === step) ?? step) : step;
    place = isObject(place) || Array.isArray(place) ? (place as Record<string | number, Json>)[key] : undefined;
    return key;
  });
  return { ...fault, path };
}

function known(key: string): string {
  return KEYS.get(key.toLowerCase()) ?? key;
}
