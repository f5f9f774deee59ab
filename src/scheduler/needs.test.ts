import { beforeAll, describe, expect, it } from "vitest";
import type { Policy } from "../policy/policy.ts";
import type { JsonObject } from "../protocol/json.ts";
import { IGNORABLE, unjudged } from "./needs.ts";
import { defaultPolicy } from "./policies.ts";
import { testPod } from "./scheduler-fixture.ts";

describe("what no plugin judges", () => {
  let policies: { readonly plain: Policy; readonly gpu: Policy };
  beforeAll(async () => {
    policies = { plain: (await defaultPolicy(false)).policy, gpu: (await defaultPolicy(true)).policy };
  });
  const asked = (spec: JsonObject, ignored: readonly string[] = []) =>
    unjudged(testPod("a", { spec }), policies.plain, new Set(ignored));

  const term = { topologyKey: "kubernetes.io/hostname", labelSelector: {} };
  const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
  const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] };
  const insisting: [string, JsonObject][] = [
    [
      "topologySpreadConstraints",
      { topologySpreadConstraints: [{ ...term, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }] },
    ],
    ["podAffinity", { affinity: { podAffinity: required } }],
    ["podAntiAffinity", { affinity: { podAntiAffinity: required } }],
    ["volumes", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] }],
    ["volumes", { volumes: [{ name: "data", ephemeral: {} }] }],
    ["resourceClaims", { resourceClaims: [{ name: "gpu" }] }],
  ];

  it.each(insisting)("is told of a pod that insists on %s, and not where it is ignored", (need, spec) => {
    expect(asked(spec)).toContain(`the pod insists on ${need}, which no plugin of the profile default-plugins judges`);
    expect(asked(spec)).toContain(`--ignore ${need}`);
    expect(asked(spec, [need])).toBeUndefined();
    expect(IGNORABLE).toContain(need);
  });

  it.each([
    ["nothing special", {}],
    ["a preference", { affinity: { podAffinity: preferred, podAntiAffinity: preferred } }],
    ["being spread if possible", { topologySpreadConstraints: [{ ...term, whenUnsatisfiable: "ScheduleAnyway" }] }],
    [
      "volumes made anywhere",
      {
        volumes: [
          { name: "a", emptyDir: {} },
          { name: "b", configMap: { name: "b" } },
        ],
      },
    ],
  ])("is not a matter for a pod that asks for %s", (_, spec) => {
    expect(asked(spec)).toBeUndefined();
  });

  it("is device memory without GpuMemory, and nobody can ignore that", () => {
    const containers = [{ name: "app", resources: { limits: { "aliyun.com/gpu-mem": "4" } } }];
    const pod = testPod("a", { spec: { containers } });
    expect(unjudged(pod, policies.plain, new Set(IGNORABLE))).toMatch(/insists on aliyun.com\/gpu-mem.*judges$/);
    expect(unjudged(pod, policies.gpu, new Set())).toBeUndefined();
  });
});
