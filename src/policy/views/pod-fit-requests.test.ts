import { expect, it } from "vitest";
import type { JsonObject } from "../../protocol/json.ts";
import { podFitRequests, podNonZeroRequests, podRequests, podScoreRequests } from "./pod-requests.ts";

const container = { name: "c", resources: { requests: { cpu: "1" } } };
const MEMORY = 200n * 1024n ** 2n;

it("looks for room for what the spec asks, not for what a status reports", () => {
  const resized: JsonObject = {
    spec: { containers: [container] },
    status: { containerStatuses: [{ name: "c", allocatedResources: { cpu: "3" } }] },
  };
  expect(podFitRequests.read?.(resized, 0)).toEqual({ cpu: 1000n });
  expect(podScoreRequests.read?.(resized, 0)).toEqual({ cpu: 1000n, memory: MEMORY });
  expect(podRequests.read?.(resized, 0)).toEqual({ cpu: 3000n });
});

it("looks for room for what the pod requests as a whole, but scores by its containers, as kube-scheduler does", () => {
  const whole: JsonObject = { spec: { containers: [container], resources: { requests: { cpu: "4" } } } };
  expect(podFitRequests.read?.(whole, 0)).toEqual({ cpu: 4000n });
  expect(podScoreRequests.read?.(whole, 0)).toEqual({ cpu: 1000n, memory: MEMORY });
});

it("adds defaults to a pod that requests as a whole only for what is requested nowhere", () => {
  const asking: JsonObject = { name: "a", resources: { requests: { memory: "1Mi" } } };
  const whole: JsonObject = { spec: { containers: [asking, container], resources: { requests: { cpu: "4" } } } };
  expect(podNonZeroRequests.read?.(whole, 0)).toEqual({ cpu: 4000n, memory: 1024n ** 2n });
});
