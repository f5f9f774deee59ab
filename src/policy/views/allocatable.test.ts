import { expect, test } from "vitest";
import { Unreadable } from "../view.ts";
import { nodeAllocatable } from "./allocatable.ts";

const read = (allocatable: string) =>
  nodeAllocatable.read?.(JSON.parse(`{"status":{"allocatable":${allocatable}}}`), 0);

test("cpu counts in millicores, memory and storage in bytes, everything else in units", () => {
  expect(
    read(`{"cpu": "3920m", "memory": "32986188Ki", "ephemeral-storage": "17060071478", "pods": "110",
      "hugepages-2Mi": "0", "nvidia.com/gpu": "8", "alibabacloud.com/gpu-mem": "32560Mi", "attachable-volumes-azure-disk": 4}`),
  ).toEqual({
    cpu: 3920n,
    memory: 33_777_856_512n,
    "ephemeral-storage": 17_060_071_478n,
    pods: 110n,
    "hugepages-2Mi": 0n,
    "nvidia.com/gpu": 8n,
    "alibabacloud.com/gpu-mem": 34_141_634_560n,
    "attachable-volumes-azure-disk": 4n,
  });
});

test("amounts above 2^53 are exact", () => {
  expect(read('{"memory": "9007199254740993"}')).toEqual({ memory: 9_007_199_254_740_993n });
});

test("a fraction of a unit counts as a whole one, as kube-scheduler rounds", () => {
  expect(read('{"cpu": "0.0001", "memory": "1500m"}')).toEqual({ cpu: 1n, memory: 2n });
});

test.each([["null"], ["{}"]])("a node that offers nothing yet has no amounts: %s", (allocatable) => {
  expect(read(allocatable)).toEqual({});
  expect(nodeAllocatable.read?.({}, 0)).toEqual({});
});

test.each([
  ['{"cpu": "4", "memory": "lots"}', "status.allocatable.memory", 'is not a quantity such as 500m, 2 or 16Gi: "lots"'],
  ['{"nvidia.com/gpu": {}}', "status.allocatable.nvidia.com/gpu", "is of type object, not a quantity"],
  ["[]", "status.allocatable", "is not a map"],
])("an amount that cannot be understood is named: %s", (allocatable, field, problem) => {
  expect(read(allocatable)).toEqual(new Unreadable(field, problem));
});

test("resources with the names of object members are ordinary resources", () => {
  const amounts = read('{"constructor": "2", "__proto__": "3"}');
  expect(Object.entries(amounts ?? {})).toEqual([
    ["constructor", 2n],
    ["__proto__", 3n],
  ]);
  expect((read("{}") as Record<string, unknown>)["constructor"]).toBeUndefined();
});
