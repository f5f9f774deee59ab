import { describe, expect, it } from "vitest";
import { buildFullPod } from "../../test/controlplane/pods.ts";
import { cutDown, pathTree } from "../protocol/paths.ts";
import { podPathsToKeep, trimPod } from "./trim-pod.ts";

describe("a trimmed pod", () => {
  const pod = buildFullPod({ name: "full", cpu: "1", requests: { "aliyun.com/gpu-mem": "4" } });
  const tree = pathTree(podPathsToKeep(["spec.containers", "spec.initContainers", "spec.volumes"]));
  const trimmed = trimPod(cutDown(JSON.parse(JSON.stringify(pod)), tree));

  it("keeps of its containers what decisions may read", () => {
    const { spec } = trimmed as { spec: { containers: object[]; initContainers: object[]; volumes: object } };
    for (const [before, after] of [
      [pod.spec.containers, spec.containers],
      [pod.spec.initContainers ?? [], spec.initContainers],
    ] as const) {
      expect(after).toHaveLength(before.length);
      for (const [index, { name, image, ports, resources, restartPolicy }] of before.entries()) {
        expect(after[index]).toEqual(JSON.parse(JSON.stringify({ name, image, ports, resources, restartPolicy })));
      }
    }
    expect(spec.volumes).toEqual(pod.spec["volumes"]);
  });

  it("is less than half as large", () => {
    const size = (object: object): number => JSON.stringify(object).length;
    expect(size(Object(trimmed["spec"]).containers)).toBeLessThan(size(pod.spec.containers) / 2);
  });

  it("loses the copy of itself that kubectl apply leaves, and no other annotation", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", other: "stays" };
    const applied = { metadata: { name: "a", annotations } };
    expect(trimPod(applied)).toEqual({ metadata: { name: "a", annotations: { other: "stays" } } });
    expect(applied.metadata.annotations).toBe(annotations);
  });

  it.each([[{}], [{ metadata: null, spec: 7 }], [{ spec: { containers: "x", initContainers: [null, 7] } }]])(
    "of an unexpected shape stays as it is: %j",
    (odd) => {
      expect(trimPod(odd)).toEqual(odd);
    },
  );
});
