import type { Dispatcher } from "undici";
import type { Reply } from "./answer.ts";
import type { Flight } from "./flight.ts";

/** How an answer is waited for. */
export interface Waiting {
  /** Its end takes the request back. */
  readonly flight: Flight;
  /** True: a success is answered as soon as its status is there, without its text. */
  readonly statusOnly: boolean;
  /** True: a success is answered with its bytes in place of its text. */
  readonly asBytes: boolean;
}

/** An answer. */
export interface Arrival extends Reply {
  /** True when its text was not waited for; the flight lands with the last byte of it. */
  readonly unfinished: boolean;
}

/**
 * Sends a request and gives its whole answer. One level below undici's `request`: a stream, an AbortSignal and an
 * async scope for each answer of a few hundred bytes would cost a third of what the request itself does.
 *
 * Rejects when nobody knows what became of the request. A 4xx whose text breaks off counts, without text.
 */
export function roundTrip(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { flight, statusOnly, asBytes }: Waiting,
): Promise<Arrival> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let running: Dispatcher.DispatchController | undefined;
    let status = 0;
    let retryAfter: string | undefined;
    let unfinished = false;
    const finish = (text: string): void => resolve({ status, text, retryAfter, unfinished });
    const finishWith = (body: Buffer): void => {
      if (asBytes && status < 300) resolve({ status, text: "", bytes: body, retryAfter, unfinished });
      else finish(body.toString());
    };
    flight.whenEnded(() => {
      if (running === undefined) reject(new GivenUp());
      else running.abort(new GivenUp());
    });
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        running = controller;
        // It waited for a connection so long that nobody waits for it any more: nothing is sent.
        if (flight.ended() !== undefined) controller.abort(new GivenUp());
      },
      onResponseStart(_, code, headers) {
        if (code < 200) return;
        status = code;
        retryAfter = headers["retry-after"]?.toString();
        unfinished = statusOnly && code < 300;
        if (unfinished) finish("");
      },
      onResponseData(_, chunk) {
        if (!unfinished) chunks.push(chunk);
      },
      onResponseEnd() {
        if (unfinished) flight.land();
        else finishWith(Buffer.concat(chunks));
      },
      onResponseError(_, error) {
        if (unfinished) flight.land();
        if (status >= 400 && status < 500) finish("");
        else reject(error);
      },
    });
  });
}

class GivenUp extends Error {
  override readonly name = "GivenUp";
}
