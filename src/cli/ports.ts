import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { DevError } from "./dev-error.ts";

/**
 * Makes sure that a port of 127.0.0.1 can be listened on.
 *
 * @param port 0 for any free one
 * @returns the port
 * @throws {DevError} when it is taken or not open to this user
 */
export async function requirePort(port: number): Promise<number> {
  const probe = createServer();
  try {
    probe.listen({ port, host: "127.0.0.1", exclusive: true });
    await once(probe, "listening");
  } catch (error) {
    throw portError(port, (error as NodeJS.ErrnoException).code);
  }
  const { port: found } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return found;
}

/**
 * What to say about a port that cannot be listened on.
 *
 * @param code the system's error code
 */
export function portError(port: number, code: string | undefined): DevError {
  const choose = `choose another with --port, such as \`npm start -- --port ${port === 8787 ? 8788 : 8787}\``;
  if (code === "EADDRINUSE") {
    return new DevError(`port ${port} of 127.0.0.1 is taken: stop the program that listens there, or ${choose}`);
  }
  if (code === "EACCES") return new DevError(`port ${port} is not open to this user: ${choose}`);
  return new DevError(`port ${port} of 127.0.0.1 cannot be listened on (${code}): ${choose}`);
}
