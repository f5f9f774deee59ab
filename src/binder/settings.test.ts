import { describe, expect, it } from "vitest";
import { readBinderSettings } from "./settings.ts";

describe("the binder's settings", () => {
  it("are those of a pod when nothing is set", () => {
    expect(readBinderSettings({})).toEqual({ source: { inCluster: true } });
  });

  it("take a kubeconfig, a namespace for the Lease and a grace time", () => {
    const env = { BERTH_KUBECONFIG: "/etc/k.conf", BERTH_LEASE_NAMESPACE: "berth-system", BERTH_GRACE_SECONDS: "10" };
    expect(readBinderSettings(env)).toEqual({
      source: { kubeconfig: "/etc/k.conf" },
      leaseNamespace: "berth-system",
      graceTime: 10_000,
    });
  });

  it.each(["0", "3601", "10s", "-1", ""])("refuse %j for a grace time, in a sentence", (value) => {
    expect(() => readBinderSettings({ BERTH_GRACE_SECONDS: value })).toThrow(
      `BERTH_GRACE_SECONDS must be a whole number from 1 to 3600, such as 30, not ${JSON.stringify(value)}`,
    );
  });
});
