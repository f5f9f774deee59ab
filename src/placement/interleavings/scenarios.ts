import { writeLedger } from "../ledger.ts";
import { nodeNamed, type Operation } from "./process.ts";
import type { Incident, Scenario } from "./system.ts";
import { podObject, type World, type WorldPod, withPod } from "./world.ts";

const UNBOUND: WorldPod = { uid: "", version: 1, node: "", device: "", assumeTime: "", revoked: "", ended: false };

/** Two pods that wait, and the nodes with their empty ledgers. */
function cluster(...nodes: string[]): World {
  const pods = { p: { ...UNBOUND, uid: "p-uid" }, q: { ...UNBOUND, uid: "q-uid" } };
  const ledger = (name: string) => {
    const empty = { nodeName: name, nodeUid: `${name}-uid`, resourceVersion: "1", epoch: "e", closedUntil: 0 };
    const body = writeLedger({ ...empty, lastAssumeTime: 0n, claims: [] }, nodeNamed(name));
    return [name, { version: 1, body }] as const;
  };
  return { pods, ledgers: Object.fromEntries(nodes.map(ledger)), ledgerVersion: 1 };
}

interface Asked {
  readonly process: string;
  readonly operation: Operation;
}

function bind(process: string, pod: string, node = "n"): Asked {
  return { process, operation: { bind: pod, uid: `${pod}-uid`, node } };
}

function clean(process: string, node = "n"): Asked {
  return { process, operation: { clean: node } };
}

/** Two binders that both believe they lead bind a pod each while a third party cleans; one answer is lost or late. */
export const twoLeaders: Scenario = {
  world: cluster("n"),
  operations: [bind("A", "p"), bind("B", "q"), clean("C")],
  faults: 1,
  crashes: 0,
};

/** One binder sleeps over its pod while the other one revokes, binds the same pod and another one, in any order. */
export const sleeper: Scenario = {
  world: cluster("n"),
  operations: [bind("A", "p"), bind("B", "p"), bind("B", "q"), clean("B"), clean("B")],
  serial: ["B"],
  faults: 1,
  crashes: 0,
};

/** A binder that dies at any moment and starts again without a memory, beside another one. */
export const crashes: Scenario = {
  world: cluster("n"),
  operations: [bind("A", "p"), bind("A", "q"), clean("A"), bind("B", "q")],
  serial: ["A", "B"],
  faults: 0,
  crashes: 1,
};

/** One binder with two pods at once in one queue, as its informer has shown them, beside another one's cleaner. */
export const oneQueue: Scenario = {
  world: cluster("n"),
  operations: [seen(bind("A", "p")), seen(bind("A", "q")), clean("B")],
  faults: 0,
  crashes: 0,
};

/** One pod sent to two nodes, and one that wants each of them. */
export const twoNodes: Scenario = {
  world: cluster("n", "m"),
  operations: [bind("A", "p", "n"), bind("B", "p", "m"), bind("B", "q", "n"), clean("B", "n"), clean("B", "m")],
  serial: ["B"],
  faults: 0,
  crashes: 0,
};

/** A pod is deleted and made again under its name, whatever is on its way. */
export const recreated: Scenario = {
  world: cluster("n"),
  operations: [
    bind("A", "p"),
    bind("B", "q"),
    clean("B"),
    { process: "C", operation: { bind: "p", uid: "p2", node: "n" } },
  ],
  serial: ["B"],
  faults: 0,
  crashes: 0,
  incidents: [
    { name: "p is made again", happen: (world) => withPod(world, "p", { ...UNBOUND, ...next(world, "p2") }) },
  ],
};

/** A pod ends, bound or not, and its device goes to another one. */
export const ended: Scenario = {
  world: cluster("n"),
  operations: [bind("A", "p"), bind("B", "q"), clean("B"), clean("B")],
  serial: ["B"],
  faults: 1,
  crashes: 0,
  incidents: [{ name: "p ends", happen: (world) => changed(world, (pod) => ({ ...pod, ended: true })) }],
};

const ledgerBreaks: Incident = {
  name: "the ledger breaks",
  loss: true,
  happen(world) {
    const now = world.ledgers["n"];
    if (now === undefined) return undefined;
    const version = world.ledgerVersion + 1;
    const body = { metadata: { name: "n" }, spec: {} };
    return { ...world, ledgers: { ...world.ledgers, n: { version, body } }, ledgerVersion: version };
  },
};

const ledgerDeleted: Incident = {
  name: "the ledger is deleted",
  loss: true,
  happen(world) {
    const { n: now, ...ledgers } = world.ledgers;
    return now === undefined ? undefined : { ...world, ledgers };
  },
};

/** The ledger becomes unreadable at any moment. */
export const broken: Scenario = {
  world: cluster("n"),
  operations: [bind("A", "p"), bind("B", "q"), bind("B", "q"), clean("B")],
  serial: ["B"],
  faults: 0,
  crashes: 0,
  incidents: [ledgerBreaks],
};

/** The ledger disappears at any moment. */
export const deleted: Scenario = { ...broken, incidents: [ledgerDeleted] };

function seen({ process, operation }: Asked): Asked {
  if ("clean" in operation) return { process, operation };
  const pod = podObject(operation.bind, { ...UNBOUND, uid: operation.uid });
  return { process, operation: { ...operation, seen: pod } };
}

function next(world: World, uid: string): Pick<WorldPod, "uid" | "version"> {
  return { uid, version: world.pods["p"]?.version ?? 0 };
}

function changed(world: World, change: (pod: WorldPod) => WorldPod): World | undefined {
  const pod = world.pods["p"];
  return pod === undefined ? undefined : withPod(world, "p", change(pod));
}
