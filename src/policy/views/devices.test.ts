import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { devices, devicesMessage } from "./devices.ts";

const read = (message: unknown) =>
  devices.read?.(
    { status: { conditions: [{ type: "Ready" }, { type: "BerthPublished", message: message as string }] } },
    0,
  );

describe("a node's devices", () => {
  test("are read from the message of the condition BerthPublished", () => {
    const message =
      '{"v":1,"generation":3,"devices":{"aliyun.com/gpu-mem":[{"id":"0","total":"16","used":"4","healthy":true}]}}';
    expect(read(message)).toEqual({
      value: {
        generation: 3,
        devices: { "aliyun.com/gpu-mem": [{ id: "0", total: 16n, used: 4n, healthy: true }] },
      },
    });
  });

  test("are the same after they were published", () => {
    const amount = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
    const device = fc.record({ id: fc.string(), total: amount, used: amount, healthy: fc.boolean() });
    const published = fc.record({ generation: fc.nat(), devices: fc.dictionary(fc.string(), fc.array(device)) });
    fc.assert(
      fc.property(published, (value) => {
        expect(read(devicesMessage(value))).toEqual({ value });
      }),
    );
  });

  test("may come with more than this release knows", () => {
    const message =
      '{"v":1,"generation":1,"devices":{"gpu":[{"id":"0","total":"1","used":"0","healthy":true,"numa":1}]},"x":1}';
    expect(read(message)).toMatchObject({ value: { devices: { gpu: [{ id: "0" }] } } });
  });

  test.each([[{}], [{ status: null }], [{ status: { conditions: null } }], [{ status: { conditions: [null, {}] } }]])(
    "are absent where nobody has published any: %j",
    (node) => {
      expect(devices.read?.(node, 0)).toEqual({ unknown: "absent" });
    },
  );

  test.each([
    [undefined],
    [""],
    ["3 devices"],
    ["{"],
    ["[]"],
    ["null"],
    ['{"generation":1,"devices":{}}'],
    ['{"v":2,"generation":1,"devices":{}}'],
    ['{"v":1,"generation":1}'],
    ['{"v":1,"generation":-1,"devices":{}}'],
    ['{"v":1,"generation":1,"devices":[]}'],
    ['{"v":1,"generation":1,"devices":{"gpu":[{"id":"0","total":16,"used":"0","healthy":true}]}}'],
    ['{"v":1,"generation":1,"devices":{"gpu":[{"id":"0","total":"16Gi","used":"0","healthy":true}]}}'],
    ['{"v":1,"generation":1,"devices":{"gpu":[{"id":"0","total":"1","used":"0"}]}}'],
  ])("are unreadable, not absent, when the message cannot be understood: %s", (message) => {
    expect(read(message)).toEqual({ unknown: "unreadable" });
  });
});
