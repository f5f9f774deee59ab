import { expect, it } from "vitest";
import { buildFullPod } from "../../test/controlplane/pods.ts";
import type { JsonObject } from "../protocol/json.ts";
import { createSharer } from "./share.ts";
import { trimPod } from "./trim-pod.ts";

it("pods of one template have one list of containers and one set of labels in memory, and their own names", () => {
  const share = createSharer();
  const [one, other, third] = ["a", "b", "c"].map((name) => {
    const image = name === "c" ? "other" : "same";
    const pod = buildFullPod({ name, labels: { app: "shop" } });
    const containers = pod.spec.containers.map((container) => ({ ...container, image }));
    return trimPod({ ...pod, spec: { ...pod.spec, containers } }, share) as { metadata: JsonObject; spec: JsonObject };
  });
  expect(other?.spec["containers"]).toBe(one?.spec["containers"]);
  expect(other?.metadata["labels"]).toBe(one?.metadata["labels"]);
  expect(third?.spec["containers"]).not.toEqual(one?.spec["containers"]);
  expect([one, other, third].map((pod) => pod?.metadata["name"])).toEqual(["a", "b", "c"]);
});

it("values of any number of kinds stay what they are, whether they are shared or not", () => {
  const share = createSharer();
  for (let i = 0; i < 10_000; i++) expect(share({ number: i })).toEqual({ number: i });
  const last = share({ number: 9_999 });
  expect(share({ number: 9_999 })).toBe(last);
});
