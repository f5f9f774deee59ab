import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { realObjects } from "../../../test/realdata.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { cutDown, pathTree } from "../../protocol/paths.ts";
import { factToJson } from "../fact-json.ts";
import { Unreadable, type View } from "../view.ts";
import { nodeAllocatableOf } from "./allocatable.ts";
import { devicesMessage } from "./devices.ts";
import { nodeAnnotations, nodeLabels } from "./labels.ts";

const folder = new URL("./", import.meta.url);
const modules = await Promise.all(
  readdirSync(folder)
    .filter((file) => !file.endsWith(".test.ts"))
    .map(async (file): Promise<Record<string, unknown>> => import(new URL(file, folder).href)),
);
const constants = modules.flatMap((module) => Object.values(module)).filter(isView);
const made = [
  nodeLabels(),
  nodeLabels(["topology.kubernetes.io/zone", "kubernetes.io/arch"]),
  nodeAnnotations(),
  nodeAnnotations(["node.alpha.kubernetes.io/ttl", "constructor"]),
  nodeLabels([]),
  nodeLabels(["no,such", "label]"]),
  nodeAllocatableOf(["cpu", "memory", "__proto__"]),
];
const views: readonly View<unknown>[] = [...constants, ...made];

function isView(value: unknown): value is View<unknown> {
  return typeof value === "object" && value !== null && "paths" in value && "read" in value;
}

const hostile: JsonObject = JSON.parse(`{
  "metadata": {
    "name": "n", "uid": "u", "namespace": "ns",
    "labels": {"__proto__": "a", "constructor": "b", "toString": "c", "number": 5, "null": null},
    "annotations": {"__proto__": "a", "hasOwnProperty": "b"}
  },
  "spec": {
    "taints": [{"key": "__proto__", "effect": "NoSchedule"}],
    "containers": [null, {}, {"resources": {"requests": {"__proto__": "1", "constructor": "2", "cpu": 1}}}],
    "initContainers": null
  },
  "status": {"allocatable": {"__proto__": "1", "constructor": "2", "cpu": "9007199254740993"}, "conditions": [null, 5]}
}`);

const nodes: readonly JsonObject[] = [
  ...realObjects("nodes").map(({ object }) => object),
  hostile,
  {},
  { metadata: null, spec: null, status: null },
  { metadata: { name: "n" }, spec: { unschedulable: true }, status: { allocatable: { memory: "lots" } } },
  {
    metadata: { name: "gpu" },
    status: {
      conditions: [
        { type: "Ready", status: "True" },
        {
          type: "BerthPublished",
          message: devicesMessage({
            generation: 7,
            devices: { "aliyun.com/gpu-mem": [{ id: "0", total: 16n, used: 2n ** 62n, healthy: true }] },
          }),
        },
      ],
    },
  },
];

const pods: readonly JsonObject[] = [
  ...realObjects("pods").map(({ object }) => object),
  hostile,
  {},
  { metadata: [], spec: 5, status: "x" },
  { spec: { containers: [{ resources: { requests: { cpu: "one" } } }] } },
];

const fleets: readonly JsonObject[] = [
  {},
  { apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts", currency: "EUR" },
  {
    prices: [
      { match: { zone: "eu-1" }, perHour: 0.5 },
      { match: {}, perHour: 1 },
    ],
    commitments: [{ name: "reserved", match: { pool: "a" } }],
    zones: JSON.parse('{"eu-1": {"closed": true}, "constructor": {"carbon": 12.5}, "__proto__": {}}'),
  },
  { prices: "free", commitments: [{}], zones: [] },
];

const objects: Readonly<Record<string, readonly JsonObject[]>> = { node: nodes, pod: pods, fleet: fleets };

test("every file with views is found, and the names of views are unique", () => {
  expect(constants.length).toBeGreaterThan(12);
  expect(new Set(views.map(({ name }) => name)).size).toBe(views.length);
});

describe.each(views.map((view) => [view.name, view] as const))("%s", (_, view) => {
  const subjects = objects[view.of] ?? [];

  test("reads the same from an object that is cut down to its paths", () => {
    const tree = pathTree(view.paths);
    for (const object of subjects) {
      expect(view.read?.(cutDown(object, tree), 0)).toEqual(view.read?.(object, 0));
    }
    expect(subjects.length).toBeGreaterThan(2);
  });

  test("gives facts that survive the network", () => {
    const facts = subjects.map((object) => view.read?.(object, 0)).filter((fact) => !(fact instanceof Unreadable));
    for (const fact of facts) {
      const sent = JSON.parse(JSON.stringify(factToJson(fact)));
      expect(view.fact.parse(sent)).toEqual(fact);
    }
    expect(facts.length).toBeGreaterThan(0);
  });

  test("refuses what is no such fact when it arrives over the network", () => {
    for (const junk of [null, 5.5, [[]], [null], { value: 5, unknown: 5, "": [] }]) {
      expect(view.fact.safeParse(junk).success, JSON.stringify(junk)).toBe(false);
    }
  });

  test("leaves the object alone", () => {
    for (const object of subjects) {
      const before = JSON.stringify(object);
      view.read?.(object, 0);
      expect(JSON.stringify(object)).toBe(before);
    }
  });

  test("leads into no array and into no map of free keys", () => {
    for (const path of view.paths) {
      expect(path).toMatch(/^[a-zA-Z]+(\.[a-zA-Z]+)*(\[[^[\]]*\])?$/);
      expect(path).not.toMatch(/(labels|annotations|allocatable|taints|conditions|[cC]ontainers|prices|zones)\./);
    }
  });

  test("is described in one sentence", () => {
    expect(view.doc).toMatch(/^The |^What |^Which |^Whether |^Hourly |^Zones /);
    expect(view.doc).toMatch(/[^.]\.$/);
  });
});
