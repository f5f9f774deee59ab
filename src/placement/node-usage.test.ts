import { describe, expect, it } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { createNodeUsage, podUsage } from "./node-usage.ts";

const pod = (...containers: JsonObject[]): JsonObject => ({ spec: { containers } });
const requesting = (requests: JsonObject): JsonObject => ({ name: "c", resources: { requests } });
const listening = (...ports: JsonObject[]): JsonObject => ({ name: "c", ports });

describe("what one pod takes", () => {
  it("is what it requests, and for scores 100m and 200Mi where a container leaves them out", () => {
    expect(podUsage(pod(requesting({ cpu: "250m", "example.com/gpu": "2" }), { name: "d" }))).toEqual({
      requested: { cpu: 250, "example.com/gpu": 2 },
      nonZero: { cpu: 350, memory: 400 * 1024 ** 2 },
      ports: [],
    });
  });

  it("is, for a pod that requests as a whole, the whole, with the defaults only for what it requests nowhere", () => {
    const whole = { spec: { containers: [{ name: "c" }], resources: { requests: { cpu: "2" } } } };
    expect(podUsage(whole).nonZero).toEqual({ cpu: 2000, memory: 200 * 1024 ** 2 });
  });

  it("is what a resize has granted while that is more than the pod asks for now", () => {
    const resized = {
      ...pod(requesting({ cpu: "1" })),
      status: { containerStatuses: [{ name: "c", allocatedResources: { cpu: "3" } }] },
    };
    expect(podUsage(resized).requested).toEqual({ cpu: 3000 });
  });

  it("leaves out resources that kube-scheduler does not count", () => {
    expect(podUsage(pod(requesting({ cpu: "1", storage: "1Gi" }))).requested).toEqual({ cpu: 1000 });
  });

  it("names the field that cannot be read, and counts the rest", () => {
    const usage = podUsage(pod(requesting({ cpu: "much" }), listening({ hostPort: 80 })));
    expect(String(usage.unreadable)).toContain("spec.containers[0].resources.requests.cpu");
    expect(usage).toMatchObject({ requested: {}, nonZero: { cpu: 0, memory: 0 }, ports: [{ port: "TCP/80" }] });
    expect(podUsage({}).unreadable).toBeUndefined();
  });

  it("includes ports of native sidecars, and container ports on the node's own network", () => {
    const sidecar = { name: "s", restartPolicy: "Always", ports: [{ hostPort: 1, hostIP: "10.0.0.1" }] };
    const starting = { name: "i", ports: [{ hostPort: 2 }] };
    const main = listening({ containerPort: 53, protocol: "UDP" });
    const on = (hostNetwork: boolean) =>
      podUsage({ spec: { hostNetwork, initContainers: [sidecar, starting], containers: [main] } }).ports;
    expect(on(false)).toEqual([{ port: "TCP/1", ip: "10.0.0.1" }]);
    expect(on(true)).toEqual([
      { port: "TCP/1", ip: "10.0.0.1" },
      { port: "UDP/53", ip: "0.0.0.0" },
    ]);
  });
});

describe("what the pods of a node take", () => {
  const small = podUsage(pod(requesting({ cpu: "1", memory: "1Ki" })));
  const large = podUsage(pod(requesting({ cpu: "2", "example.com/gpu": "1" }), listening({ hostPort: 80 })));

  it("adds up as pods come, and goes back as they leave", () => {
    const usage = createNodeUsage();
    usage.add(small);
    usage.add(large);
    expect(usage).toMatchObject({
      pods: 2,
      requested: { cpu: 3000, memory: 1024, "example.com/gpu": 1 },
      nonZero: { cpu: 3100, memory: 1024 + 400 * 1024 ** 2 },
      ports: { "TCP/80": ["0.0.0.0"] },
    });
    usage.remove(large);
    usage.remove(small);
    expect(usage).toMatchObject({ pods: 0, requested: { cpu: 0, memory: 0 }, nonZero: { cpu: 0, memory: 0 } });
    expect(usage.ports["TCP/80"]).toBeUndefined();
  });

  it("keeps a port taken while another pod has it still", () => {
    const usage = createNodeUsage();
    usage.add(large);
    usage.add(large);
    usage.remove(large);
    expect(usage.ports["TCP/80"]).toEqual(["0.0.0.0"]);
  });
});
