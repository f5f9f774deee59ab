import { describe, expect, it } from "vitest";
import type { ConfigurationWish } from "./options.ts";
import { refuse } from "./refuse.ts";
import { BASE, BINDER, FUNCTION } from "./wish-fixture.ts";

const refusal = (wish: Partial<ConfigurationWish> & Pick<ConfigurationWish, "wiring">) => () =>
  refuse({ ...BASE, ...wish });

describe("a configuration is refused", () => {
  it.each([
    ["ignorable", { wiring: "relay", ...BINDER, ignorable: true }, /must not be ignorable/],
    ["without a client certificate", { wiring: "relay", binderUrl: "https://10.96.0.20" }, /client certificates only/],
    ["that hangs up on the binder", { wiring: "relay", ...BINDER, timeout: "2s" }, /below 5s/],
    ["binder-only for every pod", { wiring: "binder-only", ...BINDER }, /--managed-resource/],
    ["in clear", { wiring: "direct", functionUrl: "http://berth.example.com" }, /not encrypted/],
    ["on EKS for the cluster's own scheduler", { wiring: "direct", ...FUNCTION, platform: "eks" }, /second-scheduler/],
    ["with two CAs", { wiring: "direct", ...FUNCTION, caFile: "/a", caData: "QQ==" }, /not both/],
    ["with half a client certificate", { wiring: "direct", ...FUNCTION, clientCert: "/a" }, /needs its key/],
    [
      "with a CA that http would ignore",
      { wiring: "direct", functionUrl: "http://127.0.0.1:8787", caFile: "/a" },
      /is http/,
    ],
    ["with a verb in the URL", { wiring: "direct", functionUrl: "https://a.example.com/filter" }, /ends with a verb/],
    ["for 1.24", { wiring: "direct", ...FUNCTION, kubernetesVersion: "1.24" }, /1\.25 and newer/],
    [
      "with cpu as a managed resource",
      { wiring: "direct", ...FUNCTION, managedResources: [{ name: "cpu", ignored: false }] },
      /extended resource/,
    ],
    [
      "with a resource twice",
      {
        wiring: "direct",
        ...FUNCTION,
        managedResources: [
          { name: "a.b/c", ignored: false },
          { name: "a.b/c", ignored: true },
        ],
      },
      /twice/,
    ],
    [
      "with the default scheduler's name",
      { wiring: "second-scheduler", ...FUNCTION, schedulerName: "default-scheduler" },
      /name of its own/,
    ],
    [
      "with the cluster's Lease",
      { wiring: "second-scheduler", ...FUNCTION, lease: "kube-system/kube-scheduler" },
      /for ever/,
    ],
    ["with nanoseconds", { wiring: "direct", ...FUNCTION, timeout: "1000000000" }, /no duration/],
    ["without weight", { wiring: "direct", ...FUNCTION, weight: 0 }, /at least 1/],
    ["for both programs", { wiring: "second-scheduler", ...FUNCTION, ...BINDER }, /one of the two/],
    ["without the URL", { wiring: "relay", ...FUNCTION }, /needs --binder-url/],
  ] as const)("%s", (_, wish, message) => {
    expect(refusal(wish as never)).toThrow(message);
  });

  it("without showing the secret in its URL", () => {
    expect(refusal({ wiring: "direct", functionUrl: "http://u:hunter2hunter2@a.example.com" })).toThrow(
      /^http:\/\/a\.example\.com is not encrypted/,
    );
  });
});
