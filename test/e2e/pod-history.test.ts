import { describe, expect, it } from "vitest";
import type { Pod } from "../controlplane/objects.ts";
import { gpuPod } from "./binder.ts";
import { type PodChange, peaks } from "./pod-history.ts";

function change(type: string, name: string, device?: string, phase = "Running"): PodChange {
  const pod = gpuPod(name, 4);
  const annotations = { ALIYUN_COM_GPU_MEM_IDX: device ?? "", ALIYUN_COM_GPU_MEM_POD: "4" };
  const metadata = { ...pod.metadata, uid: name, ...(device !== undefined && { annotations }) };
  const spec = { ...pod.spec, ...(device !== undefined && { nodeName: "node" }) };
  return { type, object: { ...pod, metadata, spec, status: { phase } } as Pod };
}

describe("the peaks of a history of pods", () => {
  it("show a device that was taken twice for a moment", () => {
    const history = [
      change("ADDED", "a"),
      change("MODIFIED", "a", "0"),
      change("MODIFIED", "b", "0"),
      change("DELETED", "b", "0"),
      change("MODIFIED", "c", "1"),
    ];
    expect([...peaks(history)]).toEqual([
      ["node/0", 8],
      ["node/1", 4],
    ]);
  });

  it("count a pod once however often it is written, and not once it has ended", () => {
    const history = [
      change("MODIFIED", "a", "0"),
      change("MODIFIED", "a", "0"),
      change("MODIFIED", "a", "0", "Failed"),
      change("MODIFIED", "b", "0"),
    ];
    expect(peaks(history).get("node/0")).toBe(4);
  });

  it("are not told of a history that broke off", () => {
    expect(() => peaks([change("ERROR", "a")])).toThrow("the history broke off");
  });
});
