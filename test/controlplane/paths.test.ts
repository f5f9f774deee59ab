import { expect, it } from "vitest";
import { podRef } from "./objects.ts";
import { collectionPath, objectPath } from "./paths.ts";

it.each([
  ["v1", "Pod", "team-a", "/api/v1/namespaces/team-a/pods"],
  ["v1", "Pod", undefined, "/api/v1/pods"],
  ["v1", "Node", "default", "/api/v1/nodes"],
  ["v1", "Endpoints", "default", "/api/v1/namespaces/default/endpoints"],
  ["networking.k8s.io/v1", "NetworkPolicy", "a", "/apis/networking.k8s.io/v1/namespaces/a/networkpolicies"],
  ["scheduling.k8s.io/v1", "PriorityClass", "a", "/apis/scheduling.k8s.io/v1/priorityclasses"],
  ["discovery.k8s.io/v1", "EndpointSlice", "a", "/apis/discovery.k8s.io/v1/namespaces/a/endpointslices"],
])("finds the collection of %s %s", (apiVersion, kind, namespace, path) => {
  expect(collectionPath(apiVersion, kind, namespace)).toBe(path);
});

it("finds an object's subresource", () => {
  expect(objectPath(podRef("a"), "binding")).toBe("/api/v1/namespaces/default/pods/a/binding");
});
