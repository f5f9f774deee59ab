import { describe, expect, it } from "vitest";
import { readAddress } from "./address.ts";
import { formatDuration, parseDuration } from "./duration.ts";
import { preempts } from "./preemption.ts";
import { isExtendedResource } from "./resource-name.ts";
import { parseMinor } from "./versions.ts";

describe("a duration", () => {
  it.each([
    ["1s", 1000],
    ["1.5s", 1500],
    ["5m0s", 300_000],
    ["1h2m3s4ms", 3_723_004],
    ["100µs", 0.1],
    ["0", 0],
    [".5s", 500],
  ])("is read as Go reads it: %s", (text, ms) => expect(parseDuration(text)).toBeCloseTo(ms));

  it.each(["", "1", "5000000000", "1 s", "1sec", "s", "1s2"])("is not read from %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it("is written so that it is read as the same", () => {
    expect([1500, 300, 60_000, 5000].map(formatDuration)).toEqual(["1.5s", "300ms", "1m", "5s"]);
    for (const ms of [1, 999, 1001, 61_000, 90_000]) expect(parseDuration(formatDuration(ms))).toBeCloseTo(ms);
  });
});

describe("an address", () => {
  it("is shown without what could be a secret", () => {
    const shown = (url: string) => readAddress(url)?.shown;
    expect(shown("https://user:pass@h.example.com:8443/default?token=abc")).toBe("https://h.example.com:8443/default");
    expect(shown("https://h.example.com/short/default")).toBe("https://h.example.com/…/default");
    expect(shown("https://h.example.com/0123456789abcdef")).toBe("https://h.example.com/…");
    expect(shown("http://127.0.0.1:32766/gpushare-scheduler")).toBe("http://127.0.0.1:32766/gpushare-scheduler");
  });

  it("is known for the machine's own and for the cluster's names", () => {
    expect(["http://[::1]:1", "http://127.9.0.1", "http://localhost"].map((url) => readAddress(url)?.loopback)).toEqual(
      [true, true, true],
    );
    const cluster = (host: string) => readAddress(`http://${host}:80/x`)?.clusterName;
    expect(["a.b.svc", "a.b.svc.cluster.local", "stork.kube-system"].map(cluster)).toEqual([true, true, true]);
    expect(["berth.example.com", "10.0.0.1", "localhost", "example.org"].map(cluster)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(readAddress("berth.example.com/x")).toBeUndefined();
    expect(readAddress("ftp://a/b")).toBeUndefined();
  });
});

describe("preemption of a profile", () => {
  const set = (postFilter: object, multiPoint: object = {}) => ({ plugins: { postFilter, multiPoint } as never });
  const plugin = [{ name: "DefaultPreemption" }];

  it("is on unless it is disabled where it works or where it comes from, and not enabled again", () => {
    expect(preempts({})).toBe(true);
    expect(preempts(set({ disabled: plugin }))).toBe(false);
    expect(preempts(set({ disabled: [{ name: "*" }] }))).toBe(false);
    expect(preempts(set({}, { disabled: plugin }))).toBe(false);
    expect(preempts(set({ disabled: [{ name: "*" }], enabled: plugin }))).toBe(true);
    expect(preempts(set({}, { disabled: [{ name: "*" }], enabled: plugin }))).toBe(true);
    expect(preempts(set({ disabled: plugin }, { enabled: plugin }))).toBe(false);
  });
});

describe("a resource in managedResources", () => {
  it("is an extended one", () => {
    expect(["aliyun.com/gpu-mem", "example.com/A.b_c", "x/y"].map(isExtendedResource)).toEqual([true, true, true]);
    const not = [
      "cpu",
      "kubernetes.io/x",
      "a.kubernetes.io/x",
      "requests.example.com/x",
      "Example.com/x",
      "a/b/c",
      "a/",
      "/b",
      "a/-b",
    ];
    expect(not.map(isExtendedResource)).toEqual(not.map(() => false));
  });
});

describe("a version of Kubernetes", () => {
  it("is read with and without v, patch and a vendor's suffix", () => {
    expect(["1.37", "v1.34.4", "1.33.5-eks-1a2b3c4", "v1.30.2+k3s1"].map(parseMinor)).toEqual([37, 34, 33, 30]);
    expect(["", "2.0", "1", "latest", "1.x"].map(parseMinor)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
