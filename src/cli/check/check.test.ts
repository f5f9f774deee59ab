import { describe, expect, it } from "vitest";
import { check, type Known } from "./check.ts";

const HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

/** The findings on one extender, given as fields of YAML in a line. */
function on(fields: string, known: Known = {}, rest = ""): string[] {
  const { findings } = check(`${HEAD}${rest}extenders:\n  - {${fields}}\n`, known);
  return findings.map(({ severity, rule }) => `${severity} ${rule}`);
}

const PRIORITIZE = "urlPrefix: https://a.example.com/p, prioritizeVerb: p, weight: 1";

describe("a check", () => {
  it("has nothing to say of a configuration that asks nobody", () => {
    expect(check(HEAD).findings).toEqual([]);
  });

  it("is content with a short prioritize, and tells what it costs when it hangs", () => {
    expect(on(`${PRIORITIZE}, httpTimeout: 1s`)).toEqual(["note worst-case"]);
  });

  it.each([
    ["1.34", 34, ["warning blind-scores"]],
    ["1.33", 33, []],
  ])("on 1.34 and newer warns of scores that go blind, with the link to it: %s (k/k #141781)", (_, minor, expected) => {
    const fields = "urlPrefix: https://a.example.com/p, filterVerb: f, preemptVerb: p, nodeCacheCapable: false";
    expect(on(fields, { minor }).filter((each) => each.includes("blind"))).toEqual(expected);
    const finding = check(`${HEAD}extenders: [{${fields}}]`).findings.find(({ rule }) => rule === "blind-scores");
    expect(finding?.reason).toContain("https://github.com/kubernetes/kubernetes/issues/141781");
  });

  it("finds both faults of a file that was moved from a Policy as it is (k/k #89396)", () => {
    const found = on(`${PRIORITIZE}, httpTimeout: 5000000000, enableHttps: true`).filter((each) =>
      each.startsWith("error"),
    );
    expect(found.sort()).toEqual(["error key-casing", "error nanoseconds"]);
    const { findings } = check(`${HEAD}extenders: [{${PRIORITIZE}, httpTimeout: 5000000000}]`);
    expect(findings.find(({ rule }) => rule === "nanoseconds")?.mend).toBe("Write httpTimeout: 5s.");
  });

  it("warns of a resource that no node advertises while kube-scheduler counts it (topolvm #235)", () => {
    const with_ = (ignored: boolean) =>
      on(`${PRIORITIZE}, managedResources: [{name: topolvm.io/capacity, ignoredByScheduler: ${ignored}}]`, {
        advertised: new Set(["cpu", "memory"]),
      });
    expect(with_(false)).toContain("warning unadvertised-resource");
    expect(with_(true)).toEqual(["note worst-case"]);
  });

  it("forbids an ignorable binder (k/k #122494)", () => {
    expect(on("urlPrefix: http://127.0.0.1:1/p, bindVerb: bind, ignorable: true")).toContain("error ignorable-bind");
  });

  it("names the URLs of both binders, without what could be a secret in them (k/k #109739)", () => {
    const text = `${HEAD}extenders:
  - { urlPrefix: "https://u:pass@a.example.com/gpushare-scheduler", bindVerb: bind }
  - { urlPrefix: "https://b.example.com/Zm9vYmFyMTIzNDU2Nzg5/gpu", bindVerb: bind }`;
    const { reason } = check(text).findings.find(({ rule }) => rule === "two-binders") ?? {};
    expect(reason).toContain("https://a.example.com/gpushare-scheduler and https://b.example.com/…/gpu");
  });

  it("tells an error from a warning where certificates are not checked (HAMi #693)", () => {
    const ca = "caData: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t";
    expect(on(`${PRIORITIZE}, tlsConfig: {insecure: true, ${ca}}`)).toContain("error insecure-with-ca");
    expect(on(`${PRIORITIZE}, enableHTTPS: true`)).toContain("warning unverified-tls");
    expect(on(`${PRIORITIZE}, enableHTTPS: true, tlsConfig: {${ca}}`)).toEqual(["note worst-case"]);
  });

  it("hints at the host's DNS where a static pod would ask it for a Service (gpushare #128)", () => {
    const config = `${HEAD}extenders: [{urlPrefix: "http://x.y.svc:80", prioritizeVerb: p, weight: 1}]`;
    const pod = (host: boolean) =>
      `apiVersion: v1\nkind: Pod\nspec:\n  hostNetwork: ${host}\n  containers: [{name: s, command: [kube-scheduler]}]`;
    const hint = (text: string) => check(text).findings.find(({ rule }) => rule === "cluster-dns")?.severity;
    expect(hint(`${config}\n---\n${pod(true)}`)).toBe("warning");
    expect(hint(`${config}\n---\n${pod(false)}`)).toBeUndefined();
    expect(hint(config)).toBe("note");
  });

  it("reads the version of kube-scheduler and its gates from a Deployment beside the configuration", () => {
    const deployment = (tag: string, gates: string) => `apiVersion: apps/v1
kind: Deployment
spec: { template: { spec: { containers: [{ image: "registry.k8s.io/kube-scheduler:${tag}", command: [kube-scheduler, "--feature-gates=${gates}"] }] } } }`;
    const config = `${HEAD}extenders: [{urlPrefix: "https://a.example.com/p", filterVerb: f}]\n---\n`;
    const rules = (text: string) => check(text).findings.map(({ rule }) => rule);
    expect(rules(config + deployment("v1.33.1", "A=true"))).not.toContain("blind-scores");
    expect(rules(config + deployment("v1.34.1", "A=true"))).toContain("blind-scores");
    expect(rules(config + deployment("v1.37.2", "A=true,GenericWorkload=true"))).toContain("gangs");
  });

  it("is the same for JSON with tabs, for a ConfigMap in JSON and for a List", () => {
    const bad = {
      kind: "KubeSchedulerConfiguration",
      apiVersion: "kubescheduler.config.k8s.io/v1",
      extenders: [{ urlPrefix: "x" }],
    };
    const map = { kind: "ConfigMap", apiVersion: "v1", data: { "a.yaml": JSON.stringify(bad) } };
    const rules = (value: unknown) =>
      check(JSON.stringify(value, null, "\t"))
        .findings.map(({ rule }) => rule)
        .sort();
    expect(rules(bad)).toEqual(["no-verb", "url"]);
    expect(rules(map)).toEqual(rules(bad));
    expect(rules({ kind: "List", apiVersion: "v1", items: [map] })).toEqual(rules(bad));
  });

  it("reads YAML 1.1 as kube-scheduler does, where yes is true", () => {
    expect(on("urlPrefix: http://127.0.0.1:1/p, bindVerb: bind, ignorable: yes")).toContain("error ignorable-bind");
  });

  it.each([
    ["PolicyConfiguration", "apiVersion: berth.dev/v1alpha1\nkind: PolicyConfiguration\nprofiles: []\n"],
    ["FleetFacts", '{ "apiVersion": "berth.dev/v1alpha1", "kind": "FleetFacts" }'],
  ])("sends whoever gives it Berth's own %s to the command that checks that", (kind, text) => {
    const { findings } = check(text);
    expect(findings).toMatchObject([{ rule: "nothing-to-check", severity: "error" }]);
    expect(findings[0]?.reason).toContain(`a ${kind} of Berth's own`);
    expect(findings[0]?.mend).toContain("npx berth policy check --config berth.yaml --facts facts.json");
    expect(check(text.replace("berth.dev", "other.dev")).findings[0]?.mend).not.toContain("berth policy check");
  });

  it("says where a text is no YAML, and that there is nothing to check in others, without repeating them", () => {
    expect(check("extenders: [unclosed-secret").findings).toMatchObject([{ rule: "not-yaml", severity: "error" }]);
    expect(check("a: b").findings).toMatchObject([{ rule: "nothing-to-check", severity: "error" }]);
    expect(JSON.stringify(check("extenders: [unclosed-secret").findings)).not.toContain("unclosed");
  });
});
