import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { ControlPlane } from "../controlplane/controlplane.ts";

/** An address that stays while what is behind it changes, as a Service does for new connections. */
export interface Front {
  readonly url: string;
  /** Where new connections go from now on; those that are open stay where they are. */
  leadTo(url: string): void;
}

/** Starts a front; it ends with the control plane. */
export async function startFront(plane: ControlPlane, first: string): Promise<Front> {
  let behind = new URL(first);
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(Number(behind.port), behind.hostname);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  plane.onStop(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo(url) {
      behind = new URL(url);
    },
  };
}
