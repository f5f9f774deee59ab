import type { Connection } from "../cluster/connection.ts";
import { placementPorts } from "../cluster/placement-ports.ts";
import { systemTiming } from "../cluster/timing.ts";
import type { Log } from "../extender/log.ts";
import type { Binder } from "../placement/bind.ts";
import { createLanes } from "../placement/lanes.ts";
import { placedPod } from "../placement/placed.ts";
import { deviceContract } from "./bind.ts";
import type { Sources } from "./objects.ts";
import { createState, type State } from "./state.ts";

/** The cluster as it is, and the protocol that changes it. */
export interface Core {
  readonly state: State;
  readonly protocol: Binder;
}

/** Joins what is followed with what is written. */
export function createCore(connection: Connection, sources: Sources, log: Log): Core {
  const newId = () => crypto.randomUUID();
  const context = { ports: placementPorts(connection), clock: systemTiming, newId, placedPod };
  const lanes = createLanes(context);
  const state = createState({ sources, peek: lanes.peek, log });
  state.nodes.onGone(lanes.forget);
  return { state, protocol: { context, lanes, contract: deviceContract(state) } };
}
