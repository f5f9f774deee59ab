import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { check, type Known } from "../../src/cli/check/check.ts";
import { generateConfiguration } from "../../src/cli/config/generate.ts";
import type { ConfigurationWish } from "../../src/cli/config/options.ts";
import { extendersOf } from "../../src/cli/kube-scheduler/extender.ts";
import { readContents } from "../../src/cli/kube-scheduler/read.ts";
import { hasRealData, realDataFolder } from "../realdata.ts";

const folder = new URL("configs/", realDataFolder);
const files = hasRealData ? readdirSync(folder).sort() : [];
const text = (start: string) =>
  readFileSync(new URL(files.find((file) => file.startsWith(start)) ?? start, folder), "utf8");
const found = (start: string, known: Known = {}) =>
  check(text(start), known).findings.map(({ line, severity, rule }) => `${line} ${severity} ${rule}`);

describe.runIf(hasRealData)("berth check on configurations that users have", () => {
  it("says of gpushare's Policy file that nothing reads it, and which key v1 writes otherwise", () => {
    expect(found("c01")).toEqual(
      expect.arrayContaining(["2 error policy-file", "7 error filter-without-preempt", "9 error key-casing"]),
    );
    expect(check(text("c01")).findings.find(({ rule }) => rule === "key-casing")).toMatchObject({
      path: "extenders[0].enableHttps",
      mend: "Write enableHTTPS.",
    });
  });

  it("finds nothing to refuse in gpushare's v1beta2 file but its version, and counts 5 s for a timeout that is not set", () => {
    const report = check(text("c02"));
    const errors = report.findings.filter(({ severity }) => severity === "error").map(({ rule }) => rule);
    expect(errors).toEqual(["api-version", "filter-without-preempt"]);
    expect(report.worstCase).toEqual({ seconds: 5, podsPerSecond: 0.2 });
  });

  it("warns of HAMi's 30 seconds, in which its pods stall, and of its unchecked certificate", () => {
    const all = found("c03");
    expect(all).toEqual(expect.arrayContaining(["19 warning long-timeout", "14 warning unverified-tls"]));
    expect(all.filter((each) => each.includes("error"))).toEqual(["15 error filter-without-preempt"]);
    expect(check(text("c03")).findings.find(({ rule }) => rule === "long-timeout")?.reason).toContain("stay pending");
  });

  it("takes topolvm's file, whatever its verb is called, but for its filter", () => {
    expect(found("c08").filter((each) => each.includes("error"))).toEqual(["9 error filter-without-preempt"]);
    expect(found("c08", { minor: 34 })).toContain("11 warning blind-scores");
    expect(found("c08", { minor: 33 }).join()).not.toContain("blind-scores");
  });

  it("finds stork's file inside its ConfigMap, both kinds of version fields in it, and its five minutes for every pod", () => {
    const all = found("c09");
    expect(all).toEqual(
      expect.arrayContaining(["12 error api-version", "43 error api-version", "83 error api-version"]),
    );
    expect(all).toEqual(expect.arrayContaining(["23 warning long-timeout", "22 warning stalls-all"]));
  });

  it("finds stork's Policy inside its ConfigMap, and the version that an extender never had", () => {
    expect(found("c10")).toEqual(
      expect.arrayContaining(["9 error policy-file", "35 error unknown-key", "39 error key-casing"]),
    );
  });

  it("finds azuredisk's file in the first of two documents", () => {
    const errors = found("c11").filter((each) => each.includes("error"));
    expect(errors).toEqual(["9 error api-version", "23 error filter-without-preempt"]);
    // Names only, and ignorable.
    expect(found("c11").join()).not.toMatch(/blind-scores|stalls-all/);
  });

  it("takes k3s' paths, and warns of 15 seconds for each verb", () => {
    const all = found("c19");
    expect(all.filter((each) => each.includes("error"))).toEqual([
      "1 error api-version",
      "5 error filter-without-preempt",
    ]);
    expect(all).toContain("11 warning long-timeout");
    expect(check(text("c19")).worstCase?.seconds).toBe(30);
  });

  it.each(files)("is content with what berth config makes of %s, but for what its own extenders do", (file) => {
    const wish: ConfigurationWish = {
      wiring: "prioritize-only",
      kubernetesVersion: "1.37",
      platform: "kubeadm",
      profile: "default",
      functionUrl: "https://berth.example.com",
      managedResources: [],
      weight: 5,
      schedulerName: "berth",
      lease: "berth-system/berth-scheduler",
    };
    const urlsIn = (source: string) =>
      readContents(source).found.flatMap(({ value }) => extendersOf(value).map(({ entry }) => entry["urlPrefix"]));
    const { text: after } = generateConfiguration(wish, text(file));
    const errors = check(after).findings.filter(({ severity }) => severity === "error");
    expect(errors.every(({ rule, path }) => rule === "filter-without-preempt" && path.startsWith("extenders[0]"))).toBe(
      true,
    );
    expect(urlsIn(after)).toEqual([...urlsIn(text(file)), "https://berth.example.com/default"]);
  });
});
