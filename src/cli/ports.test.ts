import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { portError, requirePort } from "./ports.ts";

describe("the port of npm start", () => {
  it("is any free one for 0, and stays free", async () => {
    const port = await requirePort(0);
    expect(port).toBeGreaterThan(0);
    expect(await requirePort(port)).toBe(port);
  });

  it("is refused when somebody listens there, with another to choose", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await expect(requirePort(port)).rejects.toThrow(
      `port ${port} of 127.0.0.1 is taken: stop the program that listens there, or choose another with --port`,
    );
    server.close();
  });

  it("is never proposed when it is the one that failed", () => {
    expect(portError(8787, "EADDRINUSE").message).toContain("npm start -- --port 8788");
    expect(portError(80, "EACCES").message).toBe(
      "port 80 is not open to this user: choose another with --port, such as `npm start -- --port 8787`",
    );
  });
});
