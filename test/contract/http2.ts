import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import type { SecureContextOptions } from "node:tls";
import { type Call, type Connection, methodOf } from "./target.ts";

/** Answers of several MB come without waiting for the next window. */
const WINDOW = 32 * 1024 * 1024;

/** A connection of HTTP/2: a session, replaced when the server has ended it. */
export function http2Connection(base: string, tls: SecureContextOptions): Connection {
  const sessions: ClientHttp2Session[] = [];
  const open = () => {
    const last = sessions.at(-1);
    if (last && !last.closed && !last.destroyed) return last;
    const session = connectHttp2(base, { ...tls, settings: { initialWindowSize: WINDOW } });
    session.on("connect", () => session.setLocalWindowSize(WINDOW));
    session.on("error", () => undefined);
    sessions.push(session);
    return session;
  };
  return {
    fetch: (path, call = {}) => {
      const headers = Object.entries(call.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
      return exchange(
        open().request({ ...Object.fromEntries(headers), ":method": methodOf(call), ":path": path }),
        call,
      );
    },
    get opened() {
      return sessions.length;
    },
    close: () => {
      for (const session of sessions) session.close();
    },
  };
}

async function exchange(stream: ClientHttp2Stream, { body }: Call): Promise<Response> {
  const received: Buffer[] = [];
  let answer: ResponseInit | undefined;
  stream.on("response", ({ ":status": status = 0, ...headers }) => {
    const plain = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
    answer = { status, headers: plain.map(([name, value]) => [name, String(value)] as [string, string]) };
  });
  stream.on("data", (chunk: Buffer) => received.push(chunk));
  const ended = new Promise<void>((resolve, reject) => {
    stream.once("close", resolve);
    stream.once("error", (error) => (answer ? resolve() : reject(error)));
  });
  if (body instanceof ReadableStream) Readable.fromWeb(body as WebStream).pipe(stream);
  else stream.end(body);
  await ended;
  if (!answer) throw new Error(`the stream ended without an answer (${stream.rstCode})`);
  return new Response(answer.status === 304 || answer.status === 204 ? null : Buffer.concat(received), answer);
}
