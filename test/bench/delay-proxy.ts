import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy that stands for a distance: what it passes arrives later, in order, and at any rate. */
export interface DelayProxy {
  readonly port: number;
  stop(): Promise<void>;
}

/** Where connections go, and how far away that is. */
export interface Distance {
  /** A port of 127.0.0.1. */
  readonly port: number;
  /** Milliseconds there and back; 0 leaves the proxy in the way and nothing else. */
  readonly roundTripMs: number;
}

/**
 * Listens on a port of 127.0.0.1 and passes bytes on to another, half a round trip later in each direction. TLS goes
 * through unopened. A connection is accepted at once: a client that keeps its connections pays the distance for
 * handshakes and requests, and not for the connect itself.
 */
export async function startDelayProxy({ port, roundTripMs }: Distance): Promise<DelayProxy> {
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: "127.0.0.1", noDelay: true });
    for (const socket of [near, far]) {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      // A connection that breaks is told by its end; both sides learn of it.
      socket.on("error", () => undefined);
    }
    pass(near, far, roundTripMs / 2);
    pass(far, near, roundTripMs / 2);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Timers of one length fire in the order in which they were set, so bytes stay in order. */
function pass(from: Socket, to: Socket, delayMs: number): void {
  const later = delayMs === 0 ? (act: () => void) => act() : (act: () => void) => setTimeout(act, delayMs);
  from.on("data", (bytes) => later(() => to.write(bytes)));
  from.on("end", () => later(() => to.end()));
  from.on("close", (broken) => later(() => broken && to.destroy()));
}
