/** What a look around needs. */
export interface TakeoverOptions {
  isLeader(): boolean;
  /** The nodes that have devices, as they are now. */
  names(): readonly string[];
  /** Wakes pods if one of them could profit from these nodes. */
  freed(names: readonly string[]): void;
}

/** Nodes in one look: with many pods that wait, each is a question of its own. */
const AT_ONCE = 200;

/**
 * What healed, opened or became readable while nobody led, or while another release did, has woken nobody. So a new
 * leader takes every node for one that has just been freed, some with each call of the function that this gives.
 */
export function lookAroundAfterTakeover({ isLeader, names, freed }: TakeoverOptions): () => void {
  let led = false;
  let unseen: string[] = [];
  return () => {
    const leads = isLeader();
    if (leads && !led) unseen = [...names()];
    led = leads;
    if (leads && unseen.length > 0) freed(unseen.splice(0, AT_ONCE));
  };
}
