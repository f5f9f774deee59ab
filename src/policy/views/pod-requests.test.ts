import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../protocol/json.ts";
import { podNonZeroRequests, podRequests } from "./pod-requests.ts";

const Mi = 1024n ** 2n;

/** A container with requests and perhaps more. */
function asking(requests: JsonObject, more: JsonObject = {}): JsonObject {
  return { name: "c", ...more, resources: { requests } };
}

const sidecar = { restartPolicy: "Always" };
const resizing = (reason: string): JsonObject => ({ conditions: [{ type: "PodResizePending", reason }] });

const read = (pod: JsonObject) => podRequests.read?.(pod, 0);
const readNonZero = (pod: JsonObject) => podNonZeroRequests.read?.(pod, 0);

describe("what a pod takes of a node", () => {
  test.each<[string, JsonObject, Record<string, bigint>]>([
    ["nothing, when it asks for nothing", { containers: [{ name: "c" }, { name: "d", resources: {} }] }, {}],
    [
      "the sum of its containers, in any spelling",
      {
        containers: [
          asking({ cpu: "250m", memory: "64Mi" }),
          asking({ cpu: 1, memory: "1e6", "nvidia.com/gpu": "2" }),
          asking({ cpu: ".5", "ephemeral-storage": "1Gi" }),
        ],
      },
      { cpu: 1750n, memory: 64n * Mi + 1_000_000n, "nvidia.com/gpu": 2n, "ephemeral-storage": 1024n * Mi },
    ],
    [
      "what its containers take together before anything is rounded",
      {
        containers: [
          asking({ cpu: "100u" }),
          asking({ cpu: "100u" }),
          asking({ memory: "400m" }),
          asking({ memory: "400m" }),
        ],
      },
      { cpu: 1n, memory: 1n },
    ],
    [
      "the largest init container, where that is more than the containers take",
      {
        initContainers: [asking({ cpu: "2", memory: "10Mi" }), asking({ cpu: "1" })],
        containers: [asking({ cpu: "500m", memory: "20Mi" })],
      },
      { cpu: 2000n, memory: 20n * Mi },
    ],
    [
      "a resource that only an init container asks for",
      { initContainers: [asking({ "nvidia.com/gpu": 1 })], containers: [asking({ cpu: 1 })] },
      { cpu: 1000n, "nvidia.com/gpu": 1n },
    ],
    [
      "its native sidecars as long as it runs",
      { initContainers: [asking({ cpu: "100m" }, sidecar)], containers: [asking({ cpu: "200m" })] },
      { cpu: 300n },
    ],
    [
      "an init container beside the sidecars that started before it",
      {
        initContainers: [asking({ cpu: "100m" }, sidecar), asking({ cpu: "500m" }), asking({ cpu: "200m" }, sidecar)],
        containers: [asking({ cpu: "200m" })],
      },
      { cpu: 600n },
    ],
    [
      "an init container without the sidecars that start after it",
      {
        initContainers: [asking({ cpu: "500m" }), asking({ cpu: "100m" }, sidecar), asking({ cpu: "200m" }, sidecar)],
        containers: [asking({ cpu: "100m" })],
      },
      { cpu: 500n },
    ],
    [
      "an init container of another restart policy as a plain one",
      { initContainers: [asking({ cpu: "100m" }, { restartPolicy: "Never" })], containers: [asking({ cpu: "200m" })] },
      { cpu: 200n },
    ],
    [
      "the overhead of its runtime class on top",
      { containers: [asking({ cpu: "1" })], overhead: { cpu: "250m", memory: "120Mi" } },
      { cpu: 1250n, memory: 120n * Mi },
    ],
    [
      "what it asks for as a whole instead of what its containers ask for",
      {
        containers: [asking({ cpu: "40m", memory: "15Mi", "nvidia.com/gpu": 1 })],
        resources: { requests: { cpu: "50m", "hugepages-2Mi": "4Mi" } },
        overhead: { cpu: "1m" },
      },
      { cpu: 51n, memory: 15n * Mi, "nvidia.com/gpu": 1n, "hugepages-2Mi": 4n * Mi },
    ],
    [
      "as a whole only cpu, memory and hugepages",
      {
        containers: [asking({ cpu: "1" })],
        resources: { requests: { "nvidia.com/gpu": 4, "ephemeral-storage": "1Gi" } },
      },
      { cpu: 1000n },
    ],
    [
      "its limits, where it has no requests, as the API server would store it",
      {
        containers: [{ resources: { limits: { cpu: "2", "nvidia.com/gpu": 5 }, requests: { cpu: "1" } } }],
        initContainers: [{ resources: { limits: { memory: "1Mi" } } }],
      },
      { cpu: 1000n, memory: Mi, "nvidia.com/gpu": 5n },
    ],
    [
      "its limits as a whole, where nobody requests the resource",
      { containers: [asking({ cpu: "1" })], resources: { limits: { cpu: "4", memory: "8Mi" } } },
      { cpu: 1000n, memory: 8n * Mi },
    ],
    ["an explicit zero as zero", { containers: [asking({ cpu: "0", memory: null })] }, { cpu: 0n, memory: 0n }],
  ])("is %s", (_, spec, amounts) => {
    expect(read({ spec })).toEqual(amounts);
  });

  test.each<[string, JsonObject, JsonObject, Record<string, bigint>]>([
    [
      "the most of what it asks for, was granted and runs with, while it is resized",
      { containers: [asking({ cpu: "1", memory: "10Mi" })] },
      {
        containerStatuses: [
          { name: "c", allocatedResources: { cpu: "2" }, resources: { requests: { cpu: "3", memory: "5Mi" } } },
        ],
      },
      { cpu: 3000n, memory: 10n * Mi },
    ],
    [
      "what was granted, when a resize can never be granted",
      { containers: [asking({ cpu: "8" })] },
      { ...resizing("Infeasible"), containerStatuses: [{ name: "c", allocatedResources: { cpu: "2" } }] },
      { cpu: 2000n },
    ],
    [
      "what it asks for, when a resize is only put off",
      { containers: [asking({ cpu: "8" })] },
      { ...resizing("Deferred"), containerStatuses: [{ name: "c", allocatedResources: { cpu: "2" } }] },
      { cpu: 8000n },
    ],
    [
      "a resized sidecar with what it runs with",
      { initContainers: [asking({ cpu: "1" }, { ...sidecar, name: "s" })], containers: [asking({ cpu: "1" })] },
      { initContainerStatuses: [{ name: "s", resources: { requests: { cpu: "4" } } }] },
      { cpu: 5000n },
    ],
    [
      "the most of what it asks for, was granted and runs with as a whole",
      { containers: [asking({ cpu: "1" })], resources: { requests: { cpu: "2" } } },
      { allocatedResources: { cpu: "3" }, resources: { requests: { cpu: "4" } } },
      { cpu: 4000n },
    ],
    [
      "unmoved by statuses of other containers",
      { containers: [asking({ cpu: "1" })] },
      { containerStatuses: [{ name: "other", allocatedResources: { cpu: "9" } }, null] },
      { cpu: 1000n },
    ],
  ])("is %s", (_, spec, status, amounts) => {
    expect(read({ spec, status })).toEqual(amounts);
  });
});

describe("a pod of very many containers", () => {
  test("is read in time that grows with their number, not with its square", () => {
    const containers = Array.from({ length: 50_000 }, (_, index) => ({ ...asking({ cpu: "1m" }), name: `c${index}` }));
    const containerStatuses = containers.map(({ name }) => ({ name, allocatedResources: { cpu: "2m" } })).reverse();
    expect(read({ spec: { containers }, status: { containerStatuses } })).toEqual({ cpu: 100_000n });
  });
});

describe("for scoring", () => {
  test("a container without a request counts with 100m and 200Mi, one that asks for zero does not", () => {
    const containers = [asking({ cpu: "1" }), asking({ memory: "1Mi" }), asking({ cpu: "0", memory: "0" }), {}];
    expect(readNonZero({ spec: { containers } })).toEqual({ cpu: 1200n, memory: 401n * Mi });
  });

  test("an init container without a request counts so too", () => {
    const spec = { initContainers: [{}, { ...sidecar }], containers: [asking({ cpu: "10m", memory: "1Mi" })] };
    expect(readNonZero({ spec })).toEqual({ cpu: 110n, memory: 201n * Mi });
  });

  test("what the pod asks for as a whole counts as it is", () => {
    const spec = { containers: [{}, {}], resources: { requests: { cpu: "50m" } } };
    expect(readNonZero({ spec })).toEqual({ cpu: 50n, memory: 400n * Mi });
  });
});
