import { describe, expect, it } from "vitest";
import { connectTo, fakeApi, reply } from "./api-fixture.ts";
import { type PatchOrder, patchObject } from "./patch.ts";
import { NODES, PODS } from "./resources.ts";

async function sent(order: PatchOrder) {
  const api = await fakeApi((_, answer) => reply(answer, 200, { metadata: { name: "changed" } }));
  const answer = await patchObject(await connectTo(api), order);
  expect(answer).toMatchObject({ kind: "ok" });
  const { method, path, headers, text } = api.arrived[0] ?? expect.fail("nothing arrived");
  return { request: `${method} ${path}`, type: headers["content-type"], body: JSON.parse(text) };
}

describe("patchObject", () => {
  it("sends an object as a merge patch, so that the API server does not read it as JSON Patch (client-js #2160)", async () => {
    const patch = { metadata: { annotations: { "berth.dev/wake": "1", old: null } } };
    expect(await sent({ resource: NODES, name: "n1", patch })).toEqual({
      request: "PATCH /api/v1/nodes/n1",
      type: "application/merge-patch+json",
      body: patch,
    });
  });

  it("sends a list of steps as a JSON Patch, with its tests", async () => {
    const patch = [
      { op: "test", path: "/spec/unschedulable", value: true },
      { op: "remove", path: "/spec/unschedulable" },
    ] as const;
    expect(await sent({ resource: NODES, name: "n1", patch })).toEqual({
      request: "PATCH /api/v1/nodes/n1",
      type: "application/json-patch+json",
      body: patch,
    });
  });

  it("asks for the same object in the same version in either form", async () => {
    const known = { resource: PODS, namespace: "a", name: "p", uid: "u1", resourceVersion: "7" };
    const merge = await sent({ ...known, patch: { metadata: { labels: { x: "y" } } } });
    expect(merge.body).toEqual({ metadata: { labels: { x: "y" }, uid: "u1", resourceVersion: "7" } });
    const steps = await sent({ ...known, patch: [{ op: "add", path: "/metadata/labels/x", value: "y" }] });
    expect(steps.body).toEqual([
      { op: "replace", path: "/metadata/uid", value: "u1" },
      { op: "replace", path: "/metadata/resourceVersion", value: "7" },
      { op: "add", path: "/metadata/labels/x", value: "y" },
    ]);
  });

  it("changes a status through its own path", async () => {
    const patch = { status: { conditions: [] } };
    const { request } = await sent({ resource: NODES, name: "n1", patch, subresource: "status" });
    expect(request).toBe("PATCH /api/v1/nodes/n1/status");
  });
});
