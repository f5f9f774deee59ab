import { describe, expect, it } from "vitest";
import { checkConfiguration } from "./configuration.ts";
import { formatPath } from "./faults.ts";
import { registry } from "./registry.ts";

const check = checkConfiguration(registry);

const valid = {
  apiVersion: "berth.dev/v1alpha1",
  kind: "PolicyConfiguration",
  profiles: [{ name: "default", plugins: [{ name: "NodeCost", weight: 3 }, { name: "NodeLabel" }] }],
  callers: [{ name: "a", credentials: [{ path: "A_PATH" }, { certificate: "kube-scheduler" }], profiles: ["default"] }],
};

function faultsOf(document: unknown): string[] {
  const checked = check(document);
  return "faults" in checked ? checked.faults.map((fault) => `${formatPath(fault.path)}: ${fault.message}`) : [];
}

describe("checking a configuration", () => {
  it("takes a valid one and fills in weights, arguments and callers", () => {
    const checked = check({ ...valid, callers: undefined });
    if ("faults" in checked) throw new Error(JSON.stringify(checked.faults));
    expect(checked.value.profiles[0]?.plugins).toEqual([
      { name: "NodeCost", weight: 3, args: { unpriced: "last" } },
      { name: "NodeLabel", weight: 1, args: { require: {}, forbid: {}, prefer: {} } },
    ]);
    expect(checked.value.callers).toEqual([]);
  });

  it("reports an unknown plugin and lists those that are known", () => {
    const faults = faultsOf({ ...valid, profiles: [{ name: "default", plugins: [{ name: "NodeCosts" }] }] });
    expect(faults.join("\n")).toMatch(/profiles\[0\]\.plugins\[0\]\.name: is not a plugin; known are .*NodeCost/);
  });

  it("reports every fault at once, each with its path", () => {
    const faults = faultsOf({
      ...valid,
      kind: "Policy",
      profiles: [
        { name: "default", plugins: [{ name: "NodeCost", weight: 0, args: { unpriced: "first", x: 1 } }] },
        { name: "default", plugins: [{ name: "NodeLabel" }, { name: "NodeLabel" }] },
        { name: "healthz", plugins: [] },
      ],
      callers: [
        { name: "a", credentials: [], profiles: ["nowhere"] },
        { name: "a", credentials: [{ token: "X" }], profiles: ["default"] },
      ],
    });
    const places = faults.map((fault) => fault.slice(0, fault.indexOf(":")));
    for (const place of [
      "kind",
      "profiles[0].plugins[0].weight",
      "profiles[0].plugins[0].args.unpriced",
      "profiles[0].plugins[0].args.x",
      "profiles[1].name",
      "profiles[1].plugins[1].name",
      "profiles[2].name",
      "callers[0].credentials",
      "callers[0].profiles[0]",
      "callers[1].name",
      "callers[1].credentials[0]",
    ]) {
      expect(places, faults.join("\n")).toContain(place);
    }
  });

  it("refuses a credential that two callers share: the second would never be found by it", () => {
    const callers = [
      { name: "a", credentials: [{ bearer: "TOKEN" }, { path: "TOKEN" }], profiles: ["default"] },
      { name: "b", credentials: [{ bearer: "OTHER" }, { bearer: "TOKEN" }], profiles: ["default"] },
    ];
    const profiles = [{ name: "default", plugins: [] }];
    expect(faultsOf({ ...valid, profiles, callers })).toEqual([
      expect.stringMatching(/^callers\[1\]\.credentials\[1\]: is a credential of/),
    ]);
  });

  it("refuses a weight for a plugin that does not score only when one is given", () => {
    const names = registry.filter((plugin) => plugin.scale === undefined).map((plugin) => plugin.name);
    for (const name of names) {
      expect(
        faultsOf({ ...valid, profiles: [{ name: "p", plugins: [{ name, weight: 1 }] }], callers: [] }),
      ).toHaveLength(1);
    }
  });

  it("refuses profile names that are paths of the server or could not stand in a URL", () => {
    for (const name of ["metrics", "filter", "gpushare-scheduler", "Default", "a/b", "", "-a", "a".repeat(64)]) {
      expect(faultsOf({ ...valid, profiles: [{ name, plugins: [] }], callers: [] }), name).not.toEqual([]);
    }
  });

  it("knows profiles that come from a function: callers may have them, and a file beside them needs none of its own", () => {
    const beside = checkConfiguration(registry, ["fleet"]);
    const callers = [{ name: "a", credentials: [{ path: "A_PATH" }], profiles: ["fleet"] }];
    const { profiles: _, ...none } = valid;
    expect(beside({ ...none, callers })).toMatchObject({ value: { profiles: [], callers } });
    expect(faultsOf({ ...valid, callers })).toEqual(["callers[0].profiles[0]: is not a profile of this file"]);
    expect(beside({ ...valid, callers: [], profiles: [{ name: "fleet", plugins: [] }] })).toMatchObject({
      faults: [{ path: ["profiles", 0, "name"], message: "is the name of a profile that comes from a function" }],
    });
  });

  it("does not fail on documents that are nothing like a configuration", () => {
    for (const document of [null, [], "x", 7, { profiles: null, callers: {} }, { profiles: [null], callers: [7] }]) {
      expect(faultsOf(document).length).toBeGreaterThan(0);
    }
  });
});
