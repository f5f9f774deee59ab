import type { Informer, InformerState } from "./informer.ts";

/** Several informers as one. */
export interface Joined {
  /** Settles when all has been listed once. */
  readonly whenSynced: Promise<void>;
  states(): readonly InformerState[];
  stop(): Promise<void>;
}

/** Joins informers that begin and end together. */
export function joinInformers(informers: readonly Informer[]): Joined {
  return {
    whenSynced: Promise.all(informers.map(({ whenSynced }) => whenSynced)).then(() => undefined),
    states: () => informers.map((informer) => informer.state()),
    stop: async () => {
      await Promise.all(informers.map((informer) => informer.stop()));
    },
  };
}
