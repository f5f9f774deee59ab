/**
 * An instance of assembly/skim.ts, which passes over values much faster than a loop of JavaScript. It sees nothing but
 * its own memory. Places are those in the memory.
 */
export interface Skim {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  /**
   * The place behind the bracket that closes the one at `at`; beyond `end` when none does, and 0 when it cannot say,
   * which happens with damaged JSON only.
   */
  close(at: number, end: number): number;
  /** The place of the first quote, backslash or control character from `at` on; `end` or beyond when there is none. */
  stop(at: number, end: number): number;
}

/** Gives memory that bodies move through, each to one body at a time. */
export interface Skims {
  /** An instance with room for so many bytes; none when the machine refuses such memory. */
  take(size: number): Skim | undefined;
  /** Takes it back for another body. One that never comes back, as its body never ended, is collected as garbage. */
  giveBack(skim: Skim): void;
}

const PAGE = 64 * 1024;

/** Bytes behind the last that a skim may look at. */
const BEHIND = 64;

/** So many requests at once find an instance that is there already. */
const IDLE = 4;

/**
 * Keeps a few instances for the next requests. One that grew for a large value is dropped, for memory never shrinks.
 *
 * @param instantiate makes an instance of the module
 */
export function createSkims(instantiate: () => Skim): Skims {
  const idle: Skim[] = [];
  let first: number | undefined;
  return {
    take: (size) => {
      try {
        const skim = idle.pop() ?? instantiate();
        first ??= skim.memory.buffer.byteLength;
        makeRoom(skim, size);
        return skim;
      } catch {
        // Whoever asks goes on without.
        return undefined;
      }
    },
    giveBack: (skim) => {
      if (idle.length < IDLE && skim.memory.buffer.byteLength === first) idle.push(skim);
    },
  };
}

/** Makes the memory large enough for so many bytes. What is in it stays, in a buffer of its own: the old one is gone. */
export function makeRoom({ memory }: Skim, size: number): void {
  const missing = size + BEHIND - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}
