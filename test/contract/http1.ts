import * as http from "node:http";
import * as https from "node:https";
import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import type { SecureContextOptions } from "node:tls";
import { type Call, type Connection, methodOf } from "./target.ts";

/** A client of HTTP/1.1, with TLS where the URL says so. */
export interface Http1Client {
  /** A connection of its own. */
  connect(tls?: SecureContextOptions): Connection;
  /** One request on a connection that nobody else uses. */
  fetch(path: string, call?: Call, tls?: SecureContextOptions): Promise<Response>;
}

/** Speaks to a server by Node's own client. */
export function http1Client(base: string): Http1Client {
  const connect = (tls: SecureContextOptions = {}): Connection => {
    const { Agent, request } = base.startsWith("https:") ? https : http;
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ...tls });
    const sockets = new Set<unknown>();
    return {
      fetch: (path, call = {}) => {
        const outgoing = request(new URL(path, base), { agent, method: methodOf(call), headers: headersOf(call) });
        outgoing.once("socket", (socket) => sockets.add(socket));
        return exchange(outgoing, call);
      },
      get opened() {
        return sockets.size;
      },
      close: () => agent.destroy(),
    };
  };
  return {
    connect,
    fetch: async (path, call, tls) => {
      const connection = connect(tls);
      try {
        return await connection.fetch(path, call);
      } finally {
        connection.close();
      }
    },
  };
}

/** A body whose length is known is sent with it, any other in chunks. */
function headersOf({ headers, body }: Call): http.OutgoingHttpHeaders {
  const length = body === undefined || body instanceof ReadableStream ? undefined : Buffer.byteLength(body);
  return { ...headers, ...(length !== undefined && { "Content-Length": length }) };
}

async function exchange(outgoing: http.ClientRequest, { body }: Call): Promise<Response> {
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve);
    outgoing.once("error", reject);
  });
  if (body instanceof ReadableStream) Readable.fromWeb(body as WebStream).pipe(outgoing);
  else outgoing.end(body);
  const incoming = await answered;
  // An answer may come before the body has gone out, and what is left of it may then fail.
  outgoing.on("error", () => undefined);
  const chunks = await incoming.toArray();
  return new Response(nullBody(incoming.statusCode) ? null : Buffer.concat(chunks), {
    status: incoming.statusCode ?? 0,
    headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string]),
  });
}

function nullBody(status: number | undefined): boolean {
  return status === 204 || status === 304;
}
