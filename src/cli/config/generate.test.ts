import { describe, expect, it } from "vitest";
import { check } from "../check/check.ts";
import { readContents } from "../kube-scheduler/read.ts";
import { generateConfiguration } from "./generate.ts";
import type { ConfigurationWish } from "./options.ts";
import { BASE, BINDER, FUNCTION } from "./wish-fixture.ts";

/** The configuration as data. */
function data(wish: Partial<ConfigurationWish> & Pick<ConfigurationWish, "wiring">, from?: string) {
  const { text, flags, notes } = generateConfiguration({ ...BASE, ...wish }, from);
  return { text, flags, notes, value: readContents(text).found[0]?.value as Readonly<Record<string, never>> };
}

const refusal = (wish: Partial<ConfigurationWish> & Pick<ConfigurationWish, "wiring">, from?: string) => () =>
  generateConfiguration({ ...BASE, ...wish }, from);

describe("a generated configuration", () => {
  it("is of v1, says its durations in words, and names no certificate authority where the machine's own will do", () => {
    const { value } = data({ wiring: "prioritize-only", ...FUNCTION, timeout: "1500ms" });
    expect(value).toMatchObject({
      apiVersion: "kubescheduler.config.k8s.io/v1",
      kind: "KubeSchedulerConfiguration",
      extenders: [
        { urlPrefix: "https://berth.example.com/default", httpTimeout: "1.5s", prioritizeVerb: "prioritize" },
      ],
    });
    expect(value["extenders"]?.[0]).not.toHaveProperty("enableHTTPS");
    expect(value["extenders"]?.[0]).not.toHaveProperty("filterVerb");
  });

  it("has every certificate checked: enableHTTPS comes with a CA and never without", () => {
    const caData = Buffer.from("-----BEGIN CERTIFICATE-----\n").toString("base64");
    const { value } = data({ wiring: "direct", ...FUNCTION, caData });
    expect(value["extenders"]?.[0]).toMatchObject({ enableHTTPS: true, tlsConfig: { caData } });
  });

  it("has a function that filters look at all nodes, evict nobody and back off for a minute", () => {
    const { value, flags } = data({ wiring: "direct", ...FUNCTION });
    expect(value).toMatchObject({
      percentageOfNodesToScore: 100,
      podMaxBackoffSeconds: 60,
      profiles: [
        { schedulerName: "default-scheduler", plugins: { postFilter: { disabled: [{ name: "DefaultPreemption" }] } } },
      ],
    });
    expect(flags).toEqual(["--feature-gates=SchedulerPopFromBackoffQ=false"]);
    expect(data({ wiring: "direct", ...FUNCTION, kubernetesVersion: "1.32" }).flags).toEqual([]);
  });

  it("has the binder answer every verb in one entry by names, and never lets it be ignored", () => {
    const { value } = data({ wiring: "relay", ...BINDER });
    expect(value["extenders"]).toEqual([
      expect.objectContaining({
        filterVerb: "filter",
        prioritizeVerb: "prioritize",
        preemptVerb: "preempt",
        bindVerb: "bind",
        nodeCacheCapable: true,
        ignorable: false,
        httpTimeout: "5s",
      }),
    ]);
    // Whoever answers preempt need not have it switched off.
    expect(value).not.toHaveProperty("profiles");
  });

  it("says whether kube-scheduler counts a resource (topolvm #235)", () => {
    const managedResources = [
      { name: "aliyun.com/gpu-mem", ignored: false },
      { name: "example.com/virtual", ignored: true },
    ];
    expect(data({ wiring: "relay", ...BINDER, managedResources }).value["extenders"]?.[0]).toMatchObject({
      managedResources: [
        { name: "aliyun.com/gpu-mem", ignoredByScheduler: false },
        { name: "example.com/virtual", ignoredByScheduler: true },
      ],
    });
  });

  it("gives a second scheduler a name, a Lease and a credential of its own (gpushare #54)", () => {
    const { value } = data({ wiring: "second-scheduler", platform: "eks", ...BINDER });
    expect(value).toMatchObject({
      leaderElection: { leaderElect: true, resourceNamespace: "berth-system", resourceName: "berth-scheduler" },
      profiles: [{ schedulerName: "berth" }],
    });
    expect(value).not.toHaveProperty("clientConnection");
  });

  it("explains nearly every line by a comment above it", () => {
    for (const line of ["podMaxBackoffSeconds", "percentageOfNodesToScore", "filterVerb", "ignorable", "weight"]) {
      expect(data({ wiring: "direct", ...FUNCTION }).text).toMatch(new RegExp(`# .*\\n\\s*${line}:`));
    }
  });
});

describe("a configuration that is made from another", () => {
  const OWN = `# ours since 2021
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 8 # small machines
podMaxBackoffSeconds: 120
clientConnection:
  kubeconfig: /own/scheduler.conf
profiles:
  # bin packing
  - schedulerName: default-scheduler
    percentageOfNodesToScore: 30
    pluginConfig:
      - name: NodeResourcesFit
        args: { scoringStrategy: { type: MostAllocated } }
extenders:
  # the storage team's
  - urlPrefix: http://127.0.0.1:9251
    prioritizeVerb: prioritize
    weight: 1
    managedResources: [{ name: topolvm.io/capacity, ignoredByScheduler: true }]
`;

  it("keeps what is its owner's, comments too, and changes what would not work", () => {
    const { text, value, notes } = data({ wiring: "direct", ...FUNCTION }, OWN);
    for (const comment of ["# ours since 2021", "# small machines", "# bin packing", "# the storage team's"]) {
      expect(text).toContain(comment);
    }
    expect(value).toMatchObject({
      parallelism: 8,
      podMaxBackoffSeconds: 120,
      percentageOfNodesToScore: 100,
      clientConnection: { kubeconfig: "/own/scheduler.conf" },
      profiles: [
        {
          percentageOfNodesToScore: 100,
          pluginConfig: [{ name: "NodeResourcesFit" }],
          plugins: { postFilter: { disabled: [{ name: "DefaultPreemption" }] } },
        },
      ],
      extenders: [{ urlPrefix: "http://127.0.0.1:9251" }, { urlPrefix: "https://berth.example.com/default" }],
    });
    expect(notes).toContain("percentageOfNodesToScore of profile 1 was 30");
  });

  it("is the same when it is made again: Berth's own entry is replaced", () => {
    const once = data({ wiring: "direct", ...FUNCTION }, OWN).text;
    expect(data({ wiring: "direct", ...FUNCTION }, once).text).toBe(once);
  });

  it("leaves a resource, and binding, to whoever has it", () => {
    const managedResources = [{ name: "topolvm.io/capacity", ignored: true }];
    expect(refusal({ wiring: "direct", ...FUNCTION, managedResources }, OWN)).toThrow(
      /belongs to http:\/\/127\.0\.0\.1:9251 already/,
    );
    const binder = OWN.replace("prioritizeVerb", "bindVerb");
    expect(refusal({ wiring: "relay", ...BINDER }, binder)).toThrow(/has a bindVerb already/);
  });

  it("turns an old Policy file with nanoseconds and old keys into one of v1", () => {
    const policy = JSON.stringify({
      kind: "Policy",
      apiVersion: "v1",
      priorities: [{ name: "LeastRequestedPriority", weight: 1 }],
      extenders: [
        {
          urlPrefix: "http://127.0.0.1:1/old",
          enableHttps: false,
          httpTimeout: 5_000_000_000,
          prioritizeVerb: "p",
          weight: 2,
        },
      ],
    });
    const { value, notes } = data({ wiring: "prioritize-only", ...FUNCTION }, policy);
    expect(value["extenders"]?.[0]).toEqual({
      urlPrefix: "http://127.0.0.1:1/old",
      enableHTTPS: false,
      httpTimeout: "5s",
      prioritizeVerb: "p",
      weight: 2,
    });
    expect(notes.join()).toContain("priorities");
  });

  it("is not made into a second scheduler's with the name of the first", () => {
    expect(refusal({ wiring: "second-scheduler", ...FUNCTION }, OWN)).toThrow(/default-scheduler/);
  });

  it("is not made from a text without one, from several, or from what is no YAML", () => {
    expect(refusal({ wiring: "direct", ...FUNCTION }, "a: b")).toThrow(/there is no KubeSchedulerConfiguration/);
    expect(refusal({ wiring: "direct", ...FUNCTION }, `${OWN}---\n${OWN}`)).toThrow(/several/);
    expect(refusal({ wiring: "direct", ...FUNCTION }, "kind: [")).toThrow(/line 1/);
  });
});

describe("berth check", () => {
  it("has no error on the first example of each wiring, and no warning on prioritize-only", () => {
    expect(
      check(data({ wiring: "prioritize-only", ...FUNCTION }).text).findings.map(({ severity }) => severity),
    ).toEqual(["note"]);
  });
});
