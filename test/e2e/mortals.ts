import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { Pod } from "../controlplane/objects.ts";
import type { Random } from "../controlplane/random.ts";
import { askToBind, NO_ANSWER } from "./bind-calls.ts";
import { ACCOUNT, NAMESPACE, type RunningBinder, startBinder } from "./binder.ts";
import { type Interposer, interpose, isBinding, type Passing } from "./interposer.ts";

/** A binder that is killed again and again, and started again each time. */
export interface Mortal {
  readonly interposer: Interposer;
  url(): string;
  alive(): boolean;
  /** How often it was killed. */
  kills(): number;
  /** Kills it, once until it was started again. */
  kill(): void;
  /** Starts it again if it was killed, and waits until it is ready. */
  revive(): Promise<void>;
}

/** Starts a mortal binder with the settings given. */
export async function startMortal(
  plane: ControlPlane,
  name: string,
  settings: Readonly<Record<string, string>>,
): Promise<Mortal> {
  const interposer = await interpose(plane, `via-${name}`, await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT));
  const env = { ...settings, BERTH_KUBECONFIG: interposer.kubeconfig };
  const start = (): Promise<RunningBinder> => startBinder(plane, { name, open: true, env });
  let binder = await start();
  let [alive, kills] = [true, 0];
  return {
    interposer,
    url: () => binder.url,
    alive: () => alive,
    kills: () => kills,
    kill() {
      if (!alive) return;
      binder.process.signal("SIGKILL");
      alive = false;
      kills += 1;
    },
    async revive() {
      if (alive) return;
      await binder.process.exited;
      binder = await start();
      alive = true;
    },
  };
}

/** What becomes of the Binding at which a binder is killed. */
export type Fate =
  /** It is never delivered. */
  | "lost"
  /** It is delivered, and nobody hears the answer. */
  | "delivered"
  /** It is delivered once its promise was taken back. */
  | "late";

/** A Binding at which a binder was killed. */
export interface Deathbed {
  readonly fate: Fate;
  /** The Binding, once it was reached. */
  binding?: Passing;
}

/** Has the binder killed at its next Binding: its promise is written then, and the Binding is not delivered yet. */
export function killAtBinding(plane: ControlPlane, mortal: Mortal, fate: Fate): Deathbed {
  const deathbed: Deathbed = { fate };
  mortal.interposer.before = (passing) => {
    if (!isBinding(passing)) return undefined;
    mortal.interposer.before = () => undefined;
    deathbed.binding = passing;
    mortal.kill();
    return decide(plane, fate, passing);
  };
  return deathbed;
}

async function decide(plane: ControlPlane, fate: Fate, { path }: Passing): Promise<"deliver" | "drop"> {
  if (fate !== "late") return fate === "lost" ? "drop" : "deliver";
  const isRevoked = async (): Promise<boolean> => {
    const pod = await plane.api.request<Pod>({ method: "GET", path: path.replace(/\/binding$/, "") });
    return pod.metadata.annotations?.["berth.dev/revoked"] !== undefined;
  };
  await eventually("the promise of the held Binding was taken back", isRevoked, { within: 60_000, every: 500 });
  return "deliver";
}

/** How pods are brought to their nodes. */
export interface Work {
  readonly mortals: readonly Mortal[];
  readonly nodes: readonly string[];
  readonly random: Random;
  /** How many binds are asked for a pod before it has to wait. */
  readonly tries: number;
  /** Told after each answer. */
  answered?(): void;
}

/**
 * Asks for each pod to be bound, eight at a time, on nodes and by living binders at random; gives the last reason of
 * those that wait. A pod whose binder died at it is left alone.
 */
export async function bindAll(work: Work, pods: Iterable<Pod>): Promise<Map<Pod, string>> {
  const waiting = new Map<Pod, string>();
  const queue = pods[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const reason = await bindOne(work, next.value);
      if (reason !== "") waiting.set(next.value, reason);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return waiting;
}

async function bindOne({ mortals, nodes, random, tries, answered }: Work, pod: Pod): Promise<string> {
  let reason = "";
  for (let left = tries; left > 0; left--) {
    const node = nodes[random.below(nodes.length)] ?? "";
    const living = mortals.filter((mortal) => mortal.alive());
    reason = await askToBind(living[random.below(living.length)]?.url() ?? "", pod, node);
    answered?.();
    if (reason === "" || reason === NO_ANSWER) break;
  }
  return reason;
}
