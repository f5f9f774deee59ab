import { expect, it } from "vitest";
import { isNear } from "../policy.ts";
import type { HostPort, UsedPorts } from "../views/host-ports.ts";
import { nodePorts } from "./node-ports.ts";

const filterFor = (...wanted: HostPort[]) => nodePorts.prepare({}, { wanted }, {}).filter;
const node = (ports: UsedPorts) => ({
  usage: { pods: 1, requested: {}, nonZero: { cpu: 0, memory: 0 }, ports },
});
const tcp80 = (ip = "0.0.0.0"): HostPort => ({ port: "TCP/80", ip });

it("refuses a node where the port is taken, until the pod that has it goes", () => {
  expect(filterFor(tcp80())?.(node({ "TCP/80": ["0.0.0.0"] }))).toEqual({
    reason: "node(s) didn't have free ports for the requested pod ports",
    unresolvable: false,
  });
});

it("keeps a node where other ports, or the same number of another protocol, are taken", () => {
  expect(filterFor(tcp80())?.(node({ "TCP/81": ["0.0.0.0"], "UDP/80": ["0.0.0.0"] }))).toBeUndefined();
});

it("tells a node's addresses apart, and takes 0.0.0.0 for all of them", () => {
  expect(filterFor(tcp80("10.0.0.1"))?.(node({ "TCP/80": ["10.0.0.2"] }))).toBeUndefined();
  expect(filterFor(tcp80("10.0.0.1"))?.(node({ "TCP/80": ["10.0.0.2", "10.0.0.1"] }))).toBeDefined();
  expect(filterFor(tcp80("10.0.0.1"))?.(node({ "TCP/80": ["0.0.0.0"] }))).toBeDefined();
  expect(filterFor(tcp80())?.(node({ "TCP/80": ["10.0.0.2"] }))).toBeDefined();
});

it("has nothing to say of a pod without host ports", () => {
  expect(filterFor()).toBeUndefined();
});

it("is judged where the pods of each node are known", () => {
  const { pod = {}, node: views = {} } = nodePorts.reads({}, {} as never);
  expect(isNear({ spec: nodePorts, weight: 0, args: {}, views: { pod, node: views, around: {} } })).toBe(true);
});
