import { assignDevice } from "./assign.ts";
import { type Binder, type BindRequest, bindPod } from "./bind.ts";
import { type Cleaner, type CleanerOptions, createCleaner } from "./cleaner.ts";
import { createFakeApi, type FakeApi } from "./fake-api-fixture.ts";
import { gpuNode } from "./gpu-fixture.ts";
import { assignmentAnnotations } from "./gpushare.ts";
import { createLanes, ensureLedger } from "./lanes.ts";
import type { PlacedNode, PlacedPod } from "./model.ts";
import { placedPod } from "./placed.ts";
import { usageOf } from "./usage.ts";

/** Which pod to bind. */
export type BindTarget = Pick<BindRequest, "namespace" | "name" | "uid">;

/** The hands of a test's clock, in milliseconds. */
export interface Hands {
  wall: number;
  elapsed: number;
}

/** A binder with an empty memory, as a process has that just started. */
export interface Rig {
  readonly binder: Binder;
  readonly cleaner: Cleaner;
  bind(target: BindTarget, node?: PlacedNode, more?: Partial<BindRequest>): ReturnType<typeof bindPod>;
  /** One tick over these nodes' ledgers as they are stored. */
  clean(...nodes: PlacedNode[]): ReturnType<Cleaner["tick"]>;
}

/** How a test's binder differs from the usual one. */
export interface RigOptions extends Partial<Pick<CleanerOptions, "graceTime" | "seen">> {
  /** Which pods the contract believes to be bound; as they are by default. */
  readonly believed?: () => readonly PlacedPod[];
  readonly closedFor?: number;
}

export const NODE = gpuNode("gpu-1", [1, 10]);

let ids = 0;

export function createRig(api: FakeApi, hands: Hands, options: RigOptions = {}): Rig {
  const { believed = api.pods, seen = () => undefined, graceTime = 30_000, closedFor = 75_000 } = options;
  const clock = { now: () => hands.wall, elapsed: () => hands.elapsed };
  const context = { ports: api.ports, clock, newId: () => `id-${++ids}`, placedPod, closedFor };
  const lanes = createLanes(context);
  const contract: Binder["contract"] = {
    choose(pod, node, claims) {
      const pods = believed().filter(({ nodeName }) => nodeName === node.name);
      return assignDevice(pod, node, usageOf(node, { pods, claims }, { for: pod }));
    },
    annotations: assignmentAnnotations,
  };
  const binder = { context, lanes, contract };
  const cleaner = createCleaner({ context, lanes, seen, graceTime });
  return {
    binder,
    cleaner,
    bind: (target, node = NODE, more = {}) => bindPod(binder, { ...target, node, ...more }),
    clean: (...nodes) =>
      cleaner.tick(
        nodes.flatMap((node) => {
          const ledger = api.ledger(node.name);
          return ledger === undefined ? [] : [{ node, ledger }];
        }),
      ),
  };
}

/** Lets the node's ledger be made and its closing time pass. */
export async function openLedger(rig: Rig, hands: Hands, node: PlacedNode = NODE): Promise<void> {
  await ensureLedger(rig.binder.lanes, node);
  hands.elapsed += 75_000;
  hands.wall += 75_000;
  await ensureLedger(rig.binder.lanes, node);
}

/** A binder whose ledger of {@link NODE} is open, and an API server that has forgotten how that came about. */
export async function openedRig(options: RigOptions = {}): Promise<{ api: FakeApi; hands: Hands; rig: Rig }> {
  const api = createFakeApi();
  const hands: Hands = { wall: Date.parse("2026-01-01T00:00:00Z"), elapsed: 0 };
  const rig = createRig(api, hands, options);
  await openLedger(rig, hands);
  api.requests.length = 0;
  return { api, hands, rig };
}
