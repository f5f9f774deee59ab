import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { Unreadable } from "../view.ts";
import { podNonZeroRequests, podRequests } from "./pod-requests.ts";

const asking = (requests: JsonObject): JsonObject => ({ name: "c", resources: { requests } });
const read = (pod: JsonObject) => podRequests.read?.(pod, 0);
const readNonZero = (pod: JsonObject) => podNonZeroRequests.read?.(pod, 0);

describe("a pod with parts missing", () => {
  test.each<[Json]>([
    [null],
    [{}],
    [{ containers: null }],
    [{ containers: [] }],
    [{ containers: [null] }],
    [{ containers: [{ resources: null }] }],
    [{ containers: [{ resources: { requests: null, limits: null } }], initContainers: [null], overhead: null }],
    [{ containers: [{}], resources: { requests: {}, limits: {} } }],
  ])("takes nothing: %j", (spec) => {
    expect(read({ spec, status: null })).toEqual({});
  });
});

describe("a quantity that cannot be understood", () => {
  const bad = { cpu: "one" };
  const problem = 'is not a quantity such as 500m, 2 or 16Gi: "one"';
  const good = asking({ cpu: "1" });
  test.each<[string, JsonObject]>([
    ["spec.containers[1].resources.requests.cpu", { spec: { containers: [good, asking(bad)] } }],
    ["spec.containers[0].resources.limits.cpu", { spec: { containers: [{ resources: { limits: bad } }] } }],
    ["spec.initContainers[0].resources.requests.cpu", { spec: { initContainers: [asking(bad)] } }],
    ["spec.overhead.cpu", { spec: { containers: [good], overhead: bad } }],
    ["spec.resources.requests.cpu", { spec: { resources: { requests: bad } } }],
    ["spec.resources.limits.cpu", { spec: { resources: { limits: bad } } }],
    ["status.allocatedResources.cpu", { status: { allocatedResources: bad } }],
    ["status.resources.requests.cpu", { status: { resources: { requests: bad } } }],
    [
      "status.containerStatuses[0].allocatedResources.cpu",
      { status: { containerStatuses: [{ allocatedResources: bad }] } },
    ],
    [
      "status.initContainerStatuses[1].resources.requests.cpu",
      { status: { initContainerStatuses: [{}, { resources: { requests: bad } }] } },
    ],
  ])("is named: %s", (field, pod) => {
    expect(read(pod)).toEqual(new Unreadable(field, problem));
    expect(readNonZero(pod)).toEqual(new Unreadable(field, problem));
  });

  test.each<[string, string, JsonObject]>([
    ["spec.containers", "is not a list", { spec: { containers: {} } }],
    ["status.conditions", "is not a list", { status: { conditions: "none" } }],
    [
      "spec.containers[0].resources.requests",
      "is not a map of quantities",
      { spec: { containers: [{ resources: { requests: ["1"] } }] } },
    ],
  ])("is no worse than a list or map of another type: %s", (field, problem, pod) => {
    expect(read(pod)).toEqual(new Unreadable(field, problem));
  });
});
