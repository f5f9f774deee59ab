/** How one attempt to bind a pod has ended. */
export interface Attempted {
  /** True when the pod is on its node now, whoever has put it there. */
  readonly bound: boolean;
  /** True when this attempt's own Binding took effect. */
  readonly byThis: boolean;
  /** True when its caller does not hear the answer any more. */
  readonly left: boolean;
}

/**
 * The attempts under way for each pod. kube-scheduler emits `Scheduled` when it hears that a pod is bound
 * (`bindingCycle` of pkg/scheduler/schedule_one.go, v1.37.2); when it has given the attempt up it asks again, and the
 * second attempt may hear what the first has done. So who emits the event is known when the last of them has ended.
 */
export interface Attempts {
  /** An attempt begins; what it gives is called once, at its end, and says whether the binder owes the event now. */
  begin(uid: string): (ended: Attempted) => boolean;
}

interface UnderWay {
  open: number;
  /** A Binding took effect and its caller had left. */
  owed: boolean;
  /** A caller has heard that the pod is bound. */
  heard: boolean;
}

export function createAttempts(): Attempts {
  const pods = new Map<string, UnderWay>();
  return {
    begin(uid) {
      const pod = pods.get(uid) ?? { open: 0, owed: false, heard: false };
      pods.set(uid, pod);
      pod.open++;
      return ({ bound, byThis, left }) => {
        pod.open--;
        if (bound && !left) pod.heard = true;
        if (byThis && left) pod.owed = true;
        if (pod.open > 0) return false;
        pods.delete(uid);
        return pod.owed && !pod.heard;
      };
    },
  };
}
