import type { ControlPlane } from "../controlplane/controlplane.ts";
import { type BoundWatch, watchBound } from "./bound.ts";
import { type Pods, podOf } from "./relay-cluster.ts";

/** Pods that keep arriving, so that kube-scheduler always has some to place. */
export interface Load {
  /** Pods bound per second from one moment of `performance.now()` to another. */
  rate(from: number, to: number): number;
  readonly watch: BoundWatch;
  stop(): Promise<void>;
}

/** So many always wait. */
const BACKLOG = 1_000;

/** So many that are bound stay: nodes must not fill up. */
const STAY = 200;

/** Begins: one pod arrives for each that is bound, and the oldest of those that are bound leaves. */
export async function startLoad(plane: ControlPlane, pods: Pods): Promise<Load> {
  const { api } = plane;
  const under = new Set<Promise<unknown>>();
  const bound: string[] = [];
  let created = 0;
  let problem: unknown;
  let over = false;
  const fail = (error: unknown): void => {
    problem ??= error;
  };
  const track = (work: Promise<unknown>): void => {
    const one = work.catch(fail).finally(() => under.delete(one));
    under.add(one);
  };
  const arrive = (): void => track(api.create(podOf(pods, created++)));
  const leave = (name: string): void =>
    track(api.remove({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" } }));
  const watch = await watchBound(plane, (name) => {
    if (over) return;
    bound.push(name);
    arrive();
    const oldest = bound.length > STAY ? bound.shift() : undefined;
    if (oldest !== undefined) leave(oldest);
  });
  for (let index = 0; index < BACKLOG; index++) arrive();
  return {
    watch,
    rate(from, to) {
      if (problem !== undefined) throw problem;
      return (watch.at.filter((at) => at >= from && at < to).length * 1000) / (to - from);
    },
    async stop() {
      over = true;
      watch.stop();
      await Promise.all(under);
      await api.removeAll({ apiVersion: "v1", kind: "Pod", namespace: "default" });
    },
  };
}
