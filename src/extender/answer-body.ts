/** The body of an answer, as a Response takes it. */
export interface AnswerBody {
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /**
   * Its bytes, where nobody could count them before they are sent. An answer that says its length is sent as it is on
   * Node; one that does not is copied, with a frame around each part.
   */
  readonly length?: number;
}

/** Above this many bytes it is cheaper to send the parts one by one than to put them together. */
const JOINED = 256 * 1024;

/** The parts of an answer as its body. Large ones are sent as they are: nobody has to hold the answer twice. */
export function bodyOf(parts: readonly Uint8Array[]): AnswerBody {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  return size <= JOINED ? { body: join(parts, size) } : { body: streamOf(parts), length: size };
}

function join(parts: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function streamOf(parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  // What was sent is let go of.
  const rest = [...parts];
  return new ReadableStream({
    pull(controller) {
      const part = rest.shift();
      if (part) controller.enqueue(part);
      else controller.close();
    },
  });
}
