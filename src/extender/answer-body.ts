/** The body of an answer, as a Response takes it. */
export type AnswerBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** Above this many bytes it is cheaper to send the parts one by one than to put them together. */
const JOINED = 256 * 1024;

/** The parts of an answer as its body. Large ones are sent as they are: nobody has to hold the answer twice. */
export function bodyOf(parts: readonly Uint8Array[]): AnswerBody {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  return size <= JOINED ? join(parts, size) : streamOf(parts);
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
