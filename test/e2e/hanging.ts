import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { field } from "../../src/protocol/json.ts";
import type { Home } from "./function.ts";

/** One call that nobody answers. */
export interface HeldCall {
  /** The first segment of the path: which of the callers. */
  readonly caller: string;
  readonly verb: string;
  /** The pod's name. */
  readonly pod: string;
  /** True once the caller has hung up. */
  gaveUp: boolean;
}

/** A server over HTTPS that reads every request and answers none. */
export interface HangingServer {
  readonly url: string;
  readonly caData: string;
  /** The calls of one caller, in order. */
  calls(caller: string): HeldCall[];
}

/** Starts a hanging server; it ends with its control plane. */
export async function startHanging(home: Home): Promise<HangingServer> {
  const { certPem, keyPem } = await home.authority.issue({ name: "hanging" });
  const calls: HeldCall[] = [];
  const server = createServer({ cert: certPem, key: keyPem }, async (request, response) => {
    const path = request.url?.split("/") ?? [];
    const caller = path[1] ?? "";
    const pod = String(field(field(field(await json(request), "Pod"), "metadata"), "name"));
    const call: HeldCall = { caller, verb: path.at(-1) ?? "", pod, gaveUp: false };
    calls.push(call);
    response.on("close", () => {
      call.gaveUp = true;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  home.onStop(() => stop(server));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caData: Buffer.from(home.caPem).toString("base64"),
    calls: (caller) => calls.filter((call) => call.caller === caller),
  };
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}
