import { describe, expect, it } from "vitest";
import { field, isObject, type Json } from "../../src/protocol/json.ts";
import { schedulerVersions } from "../controlplane/programs.ts";
import { recordings } from "./recordings.ts";

const all = recordings().map((recording) => ({
  ...recording,
  args: JSON.parse(recording.body.toString("utf8")) as Json,
}));

it("are there for every served kube-scheduler, both verbs and both forms", () => {
  expect([...new Set(all.map(({ version }) => version))]).toEqual([...schedulerVersions]);
  expect(all).toHaveLength(schedulerVersions.length * 4);
});

describe.each(all)("what kube-scheduler $version sends for $verb by $form", ({ verb, form, args, request, body }) => {
  it("is a POST of JSON over HTTP/2 that takes gzip and carries no credential", () => {
    expect(request).toMatchObject({ method: "POST", path: `/default/${verb}`, httpVersion: "2.0" });
    expect(request.headers).toMatchObject({
      "content-type": "application/json",
      "accept-encoding": "gzip",
      "content-length": String(body.length),
    });
    expect(request.headers).not.toHaveProperty("authorization");
  });

  it("has capitalised outer keys, and null for the form that was not asked for", () => {
    expect(Object.keys(isObject(args) ? args : {})).toEqual(["Pod", "Nodes", "NodeNames"]);
    expect(field(args, form === "nodes" ? "NodeNames" : "Nodes")).toBeNull();
  });

  it("tells four nodes", () => {
    const items = form === "nodes" ? field(field(args, "Nodes"), "items") : field(args, "NodeNames");
    expect(items).toHaveLength(4);
  });

  it("has the whole pod, with its native sidecar and its priority", () => {
    const spec = field(field(args, "Pod"), "spec");
    expect(field(spec, "initContainers")).toContainEqual(
      expect.objectContaining({ name: "mesh-proxy", restartPolicy: "Always" }),
    );
    expect(field(spec, "priority")).toBe(0);
  });
});

it("nodes carry managedFields and neither kind nor apiVersion", () => {
  for (const { args } of all.filter(({ form }) => form === "nodes")) {
    const items = field(field(args, "Nodes"), "items");
    for (const node of Array.isArray(items) ? items : []) {
      expect(Object.keys(node)).toEqual(["metadata", "spec", "status"]);
      expect(field(field(node, "metadata"), "managedFields")).not.toHaveLength(0);
    }
  }
});

it("pods carry managedFields up to 1.35 and none since 1.36", () => {
  const kept = all.filter(({ args }) => field(field(field(args, "Pod"), "metadata"), "managedFields") !== undefined);
  expect([...new Set(kept.map(({ version }) => version))]).toEqual(["1.34.4", "1.35.4"]);
});
