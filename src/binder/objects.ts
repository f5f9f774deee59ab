import type { Objects } from "../placement/followed.ts";

export type { Objects } from "../placement/followed.ts";

/** Everything the binder follows. */
export interface Sources {
  readonly pods: Objects;
  readonly nodes: Objects;
  /** The ConfigMaps `unhealthy-gpu-<node>`. */
  readonly unhealthy: Objects;
  readonly budgets: Objects;
  /** For showing and cleaning; devices are given by what is read and written, never by this. */
  readonly ledgers: Objects;
}
