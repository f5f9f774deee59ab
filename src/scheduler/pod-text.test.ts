import { describe, expect, it } from "vitest";
import { podText } from "./pod-text.ts";
import { testPod } from "./scheduler-fixture.ts";

const [one, other] = [testPod("one", { cpu: "1" }).object, testPod("other", { cpu: "1" }).object];

describe("what a pod says at some places", () => {
  it("is the same for pods that differ elsewhere, their names included", () => {
    expect(podText(["spec.containers"])(one)).toBe(podText(["spec.containers"])(other));
    const labelled = testPod("one", { labels: { app: "web" } }).object;
    expect(podText(["spec.containers"])(labelled)).toBe(podText(["spec.containers"])(other));
  });

  it("differs where one of these places does, be it the name", () => {
    expect(podText(["spec.containers"])(testPod("one", { cpu: "2" }).object)).not.toBe(
      podText(["spec.containers"])(one),
    );
    for (const path of ["metadata.name", "metadata"]) expect(podText([path])(one)).not.toBe(podText([path])(other));
  });
});
