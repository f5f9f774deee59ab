import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { field, type JsonObject } from "../protocol/json.ts";
import { type LedgerNode, readLedger, usageLine, writeLedger } from "./ledger.ts";
import type { Claim, DeviceSlot, Ledger } from "./model.ts";
import { type StructuralSchema, structuralFaults } from "./structural-fixture.ts";

const text = fc.string({ minLength: 1, unit: "grapheme" });
const amount = fc.bigInt({ min: 0n, max: 2n ** 64n });
const time = fc.integer({ min: 0, max: Date.parse("9999-12-31T23:59:59.999Z") });
const claim: fc.Arbitrary<Claim> = fc.record({
  id: text,
  podUid: text,
  namespace: text,
  podName: text,
  device: text,
  amount,
  assumeTime: amount,
  claimedAt: time,
});
const ledger: fc.Arbitrary<Ledger> = fc.record({
  nodeName: text,
  nodeUid: text,
  resourceVersion: text,
  epoch: text,
  closedUntil: time,
  lastAssumeTime: amount,
  claims: fc.uniqueArray(claim, { selector: ({ id }) => id, maxLength: 8 }),
});
const device: fc.Arbitrary<DeviceSlot> = fc.record({ id: text, total: amount, healthy: fc.boolean() });
const devices = fc.uniqueArray(device, { selector: ({ id }) => id, maxLength: 4 });

const ONE: Ledger = {
  nodeName: "gpu-1",
  nodeUid: "u",
  resourceVersion: "7",
  epoch: "e",
  closedUntil: 0,
  lastAssumeTime: 1_800_000_000_000_000_001n,
  claims: [
    {
      id: "c",
      podUid: "p",
      namespace: "default",
      podName: "pod",
      device: "1",
      amount: 4n,
      assumeTime: 1_800_000_000_000_000_001n,
      claimedAt: Date.parse("2027-01-15T08:00:00.001Z"),
    },
  ],
};
const NODE: LedgerNode = {
  name: "gpu-1",
  uid: "u",
  devices: [
    { id: "0", total: 12n, healthy: false },
    { id: "1", total: 12n, healthy: true },
  ],
};

test("a ledger that was written reads back exactly as it was, through JSON", () => {
  fc.assert(
    fc.property(ledger, devices, (before, devices) => {
      const object = writeLedger(before, { name: before.nodeName, uid: before.nodeUid, devices });
      const after = readLedger(JSON.parse(JSON.stringify(object)), before.nodeName);
      expect(after).toEqual({ kind: "ledger", ledger: before, usage: usageLine(before.claims, devices) });
    }),
  );
});

test("a ledger is an object for people too: owner, amounts as strings, sums and one word per device", () => {
  expect(writeLedger({ ...ONE, closedUntil: Date.parse("2027-01-15T08:01:15Z") }, NODE)).toEqual({
    apiVersion: "berth.dev/v1alpha1",
    kind: "NodeLedger",
    metadata: {
      name: "gpu-1",
      resourceVersion: "7",
      managedFields: [{}],
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "gpu-1", uid: "u" }],
    },
    spec: {
      format: 1,
      nodeUid: "u",
      epoch: "e",
      closedUntil: "2027-01-15T08:01:15.000Z",
      lastAssumeTime: "1800000000000000001",
      claims: [
        "default/pod device=1 amount=4 uid=p claim=c assumeTime=1800000000000000001 claimedAt=2027-01-15T08:00:00.001Z",
      ],
    },
    status: {
      used: "4",
      total: "24",
      usage: "0:0/12! 1:4/12",
    },
  });
});

describe("a stored object that is not a ledger of this node and format is told, never taken as an empty one:", () => {
  const stored = JSON.parse(JSON.stringify(writeLedger(ONE, NODE))) as JsonObject;
  const spec = stored["spec"] as JsonObject;
  const [line = ""] = spec["claims"] as string[];
  const withSpec = (more: JsonObject) => ({ ...stored, spec: { ...spec, ...more } });
  const withClaim = (find: string, put: string) => withSpec({ claims: [line, line.replace(find, put)] });
  const broken: [string, JsonObject, RegExp][] = [
    ["no spec", { ...stored, spec: null }, /^spec.format/],
    ["no format", { ...stored, spec: {} }, /^spec.format/],
    ["a format that never was", withSpec({ format: 0 }), /^spec.format/],
    ["a format that is no number", withSpec({ format: "1" }), /^spec.format/],
    ["no claims", withSpec({ claims: null }), /^spec.claims/],
    ["a claim without a device", withClaim("device=1 ", ""), /^spec.claims.1: expected device=/],
    ["a claim of an empty device", withClaim("device=1", "device="), /^spec.claims.1: expected device=/],
    ["a claim of no pod", withClaim("default/pod", "default"), /^spec.claims.1: expected <namespace>/],
    ["a negative amount", withClaim("amount=4", "amount=-4"), /^spec.claims.1: expected amount=/],
    ["a claim at no time", withClaim("2027", "27"), /^spec.claims.1: expected claimedAt=/],
    ["a claim that is badly escaped", withClaim("uid=p", "uid=%E0%A4%A"), /^spec.claims.1: expected device=/],
    ["a claim that is no text", withSpec({ claims: [{ pod: "default/pod" }] }), /^spec.claims.0/],
    ["a time that is no date", withSpec({ closedUntil: "tomorrow" }), /^spec.closedUntil/],
    ["no assume time", withSpec({ lastAssumeTime: null }), /^spec.lastAssumeTime/],
    ["the ledger of another node", { ...stored, metadata: { name: "x", resourceVersion: "7" } }, /of x, not of gpu-1/],
  ];
  test.each(broken)("%s", (_, object, reason) => {
    const resourceVersion = "7";
    const expected = { kind: "broken", reason: expect.stringMatching(reason), resourceVersion };
    expect(readLedger(object, "gpu-1")).toEqual(expected);
  });

  test("a newer format, even one that nothing else can be read of", () => {
    expect(readLedger({ ...stored, spec: { format: 2 } }, "gpu-1")).toEqual({ kind: "newer", format: 2 });
  });

  test("but what a newer release adds to this format is passed over", () => {
    const more = withSpec({ fieldOfTomorrow: true, claims: [`${line} word=ofTomorrow`] });
    expect(readLedger(more, "gpu-1")).toMatchObject({ kind: "ledger", ledger: ONE });
  });
});

describe("the custom resource definition in infra/", () => {
  const definition = parse(readFileSync(new URL("../../infra/crd/nodeledgers.yaml", import.meta.url), "utf8"));
  const [version] = definition.spec.versions;
  const schema: StructuralSchema = version.schema.openAPIV3Schema;

  test("accepts every ledger that is written, and drops no field of it", () => {
    fc.assert(
      fc.property(ledger, devices, (one, devices) => {
        const object = writeLedger(one, { name: one.nodeName, uid: one.nodeUid, devices });
        expect(structuralFaults(schema, object)).toEqual([]);
      }),
    );
  });

  test("names the group, version and kind that are written, for the whole cluster, in one object without subresources", () => {
    const { group, scope, names } = definition.spec;
    expect({ group, scope, kind: names.kind, plural: names.plural, version: version.name }).toEqual({
      group: "berth.dev",
      scope: "Cluster",
      kind: "NodeLedger",
      plural: "nodeledgers",
      version: "v1alpha1",
    });
    expect(definition.metadata.name).toBe("nodeledgers.berth.dev");
    expect(version.subresources).toBeUndefined();
  });

  test("prints columns that a ledger has", () => {
    const object = { ...writeLedger({ ...ONE, closedUntil: 1 }, NODE), metadata: { creationTimestamp: "now" } };
    const at = (path: string) => path.split(".").slice(1).reduce<unknown>(field, object);
    const columns = version.additionalPrinterColumns as { name: string; jsonPath: string }[];
    expect(columns.filter(({ jsonPath }) => at(jsonPath) === undefined)).toEqual([]);
    expect(columns.map(({ name }) => name)).toEqual(["Used", "Total", "Devices", "Closed-Until", "Epoch", "Age"]);
  });

  test("is checked by something that finds faults: missing, dropped and mistyped fields, and a claim twice", () => {
    const object = writeLedger(ONE, NODE);
    const spec = object["spec"] as JsonObject;
    const [line = ""] = spec["claims"] as string[];
    const faults = (more: JsonObject) => structuralFaults(schema, { ...object, spec: { ...spec, ...more } });
    expect(faults({ more: 1 })).toEqual([".spec.more: dropped"]);
    expect(faults({ format: 0 })).toEqual([".spec.format: not such an integer"]);
    expect(faults({ claims: [line, line] })).toEqual([".spec.claims: the same item twice"]);
    const half = line.split(" ").slice(0, 4).join(" ");
    expect(faults({ claims: [half] })).toEqual([expect.stringMatching(/^.spec.claims\[0\]: does not match/)]);
    expect(faults({ lastAssumeTime: "-1" })).toEqual([expect.stringMatching(/^.spec.lastAssumeTime: does not match/)]);
    expect(structuralFaults(schema, { ...object, spec: {} })).toContain(".spec.nodeUid: missing");
  });
});
