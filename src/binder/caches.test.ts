import { describe, expect, it } from "vitest";
import { createStore } from "../cluster/store.ts";
import { systemTiming } from "../cluster/timing.ts";
import { podPathsToKeep, trimPod } from "../cluster/trim-pod.ts";
import { everyView } from "../policy/view-table.ts";
import { podPaths } from "./caches.ts";

const POD = {
  metadata: {
    namespace: "default",
    name: "p",
    uid: "u",
    labels: { app: "web" },
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", rack: "7" },
  },
  spec: {
    nodeName: "n",
    hostNetwork: true,
    nodeSelector: { pool: "a" },
    tolerations: [{ key: "team", operator: "Equal", value: "blue", effect: "NoSchedule" }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["1"] }] }],
        },
      },
    },
    overhead: { cpu: "250m" },
    initContainers: [{ name: "i", restartPolicy: "Always", ports: [{ containerPort: 81 }] }],
    containers: [
      {
        name: "c",
        env: [{ name: "SECRET", value: "s" }],
        ports: [{ containerPort: 80, protocol: "TCP" }],
        resources: { requests: { cpu: "1" }, limits: { "aliyun.com/gpu-mem": "4" } },
      },
    ],
  },
};

describe("a pod as the binder keeps it", () => {
  const store = createStore({
    resource: "pods",
    paths: podPathsToKeep(podPaths()),
    trim: trimPod,
    timing: systemTiming,
    warn: () => undefined,
  });
  store.put(POD);
  const kept = store.get("p", "default") ?? {};

  it.each(everyView().filter((view) => view.of === "pod" && view.read))(
    "reads for $name as the pod that kube-scheduler asks about does",
    (view) => {
      expect(view.read?.(kept, 0)).toEqual(view.read?.(POD, 0));
    },
  );

  it("lacks what no view reads", () => {
    expect(JSON.stringify(kept)).not.toMatch(/SECRET|last-applied/);
  });
});
