import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSettings, SettingsError } from "./node-settings.ts";

describe("the settings of the function on Node", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-settings-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("have defaults: loopback, plain HTTP, closed, 32 MiB", () => {
    expect(readSettings({})).toMatchObject({
      configFile: "berth.yaml",
      factsFile: "facts.json",
      host: "127.0.0.1",
      port: 8443,
      openOnLoopback: false,
      bodyLimit: 33_554_432,
    });
    expect(readSettings({})).not.toHaveProperty("tls");
  });

  it("come from the environment", () => {
    const settings = readSettings({
      BERTH_CONFIG: "a.yaml",
      BERTH_FACTS: "b.json",
      BERTH_LISTEN: "[::]:9443",
      BERTH_TLS_CERT: "tls.crt",
      BERTH_TLS_KEY: "tls.key",
      BERTH_CLIENT_CA: "ca.crt",
      BERTH_OPEN: "loopback",
      BERTH_BODY_LIMIT: "1000",
    });
    expect(settings).toMatchObject({
      configFile: "a.yaml",
      factsFile: "b.json",
      host: "::",
      port: 9443,
      tls: { certFile: "tls.crt", keyFile: "tls.key", clientCaFile: "ca.crt" },
      openOnLoopback: true,
      bodyLimit: 1000,
    });
  });

  it("are all told at once when several make no sense", () => {
    const read = () =>
      readSettings({ BERTH_LISTEN: "8443", BERTH_TLS_CERT: "tls.crt", BERTH_OPEN: "yes", BERTH_BODY_LIMIT: "32M" });
    expect(read).toThrow(SettingsError);
    expect(read).toThrow(
      [
        'BERTH_LISTEN must be host:port, such as 0.0.0.0:8443, not "8443"',
        "BERTH_TLS_CERT and BERTH_TLS_KEY go together: set both",
        'BERTH_OPEN must be "loopback" or not set, not "yes"',
        'BERTH_BODY_LIMIT must be a number of bytes, such as 33554432, not "32M"',
      ].join("\n"),
    );
  });

  it.each(["127.0.0.1:65536", ":8443", "127.0.0.1", "127.0.0.1:http"])("refuse the address %s", (BERTH_LISTEN) => {
    expect(() => readSettings({ BERTH_LISTEN })).toThrow("BERTH_LISTEN must be host:port");
  });

  it("refuse an authority for client certificates on plain HTTP, which has none", () => {
    expect(() => readSettings({ BERTH_CLIENT_CA: "ca.crt" })).toThrow("BERTH_CLIENT_CA needs BERTH_TLS_CERT");
  });

  it("hold secrets by their names, or in files without the newline at the end", () => {
    const file = join(folder, "token");
    writeFileSync(file, "from-a-mounted-file\n");
    const { secret } = readSettings({ CLUSTER_A: "from-the-environment", CLUSTER_B_FILE: file });
    expect(secret("CLUSTER_A")).toBe("from-the-environment");
    expect(secret("CLUSTER_B")).toBe("from-a-mounted-file");
    expect(secret("CLUSTER_C")).toBeUndefined();
  });

  it("name the setting and the file of a secret that cannot be read", () => {
    const file = join(folder, "nowhere");
    const { secret } = readSettings({ CLUSTER_A_FILE: file });
    expect(() => secret("CLUSTER_A")).toThrow(
      `CLUSTER_A_FILE names ${file}, which cannot be read: there is no such file`,
    );
  });
});
