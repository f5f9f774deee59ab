import { LRUCache } from "lru-cache";

/** Which version of a policy each pod's scheduling cycle began with. */
export interface Cycles<T> {
  /** A pod's cycle begins: kube-scheduler asks `filter` first. */
  begin(pod: string, version: T): void;
  /** The pod was judged by a version, without that any later verb has to follow it. */
  judged(pod: string, version: T): void;
  /** The version that the pod's running cycle began with, or undefined when none is known to be running. */
  running(pod: string): T | undefined;
  /** The name of the version that the pod was last judged by. Kept longer: volumes are made ready before a bind. */
  judgedBy(pod: string): string | undefined;
}

/** kube-scheduler waits 5 s for an answer unless told otherwise, and several extenders may come between two verbs. */
const CYCLE_MS = 30_000;

/** `bindTimeoutSeconds` of VolumeBinding is ten minutes: kube-scheduler v1.37.2, apis/config/v1/defaults.go. */
const BIND_MS = 600_000;

/** More pods than kube-scheduler can have between `filter` and `bind`. */
const MOST_PODS = 20_000;

/**
 * Remembers by which version of a policy a pod is being placed, so that `filter`, `prioritize`, `preempt` and the
 * Binding's annotation agree while the policy changes. Bounded; the pods not asked about for longest go first.
 *
 * @param nameOf such as `<profile>@<version>`
 * @param elapsed milliseconds of a clock that never jumps
 */
export function createCycles<T extends object>(nameOf: (version: T) => string, elapsed: () => number): Cycles<T> {
  const perf = { now: elapsed };
  const bounded = { max: MOST_PODS, ttlResolution: 0, perf };
  // A version holds all that it decides by: it goes when the cycle is over, not when the pod is asked about again.
  const cycles = new LRUCache<string, T>({ ...bounded, ttl: CYCLE_MS, ttlAutopurge: true });
  const names = new LRUCache<string, string>({ ...bounded, ttl: BIND_MS });
  return {
    begin(pod, version) {
      cycles.set(pod, version);
      names.set(pod, nameOf(version));
    },
    judged: (pod, version) => void names.set(pod, nameOf(version)),
    running: (pod) => cycles.get(pod),
    judgedBy: (pod) => names.get(pod),
  };
}
