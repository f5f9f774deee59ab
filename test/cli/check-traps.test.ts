import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { check } from "../../src/cli/check/check.ts";
import { brokenConfigs } from "./configs.ts";

const pem = (what: string) => Buffer.from(`-----BEGIN ${what}-----\nMAA=\n-----END ${what}-----\n`).toString("base64");
const files = brokenConfigs({
  CA: "/etc/berth/ca.crt",
  CERT: "/etc/berth/client.crt",
  CERTDATA: pem("CERTIFICATE"),
  KEYDATA: pem("PRIVATE KEY"),
  KUBECONFIG: "/etc/kubernetes/scheduler.conf",
});

describe.each(files)("berth check on test/cli/configs/$name", ({ text, expected, refused, damage }) => {
  const found = check(text).findings.map(({ line, severity, rule }) => ({ line, severity, rule }));

  it("reports what its comments say, at their lines", () => {
    expect(expected.length).toBeGreaterThan(0);
    expect(found).toEqual(expect.arrayContaining([...expected]));
  });

  it("reports no error beside them, so that what kube-scheduler refuses and what it takes are told apart", () => {
    const errors = found.filter(({ severity }) => severity === "error");
    expect(errors).toEqual(expected.filter(({ severity }) => severity === "error"));
  });

  it("says whether kube-scheduler starts with it, and where its damage is shown", () => {
    expect((refused === undefined) !== (damage === undefined)).toBe(true);
    const [, file, title] = /^([\w-]+\.test\.ts): (.+)$/.exec(damage ?? "") ?? [];
    if (file === undefined) return;
    const source = readFileSync(join(import.meta.dirname, "../e2e", file), "utf8");
    expect(source.includes(`"${title}"`), `${file} has a test "${title}"`).toBe(true);
  });
});

describe("berth check", () => {
  const all = files.flatMap(({ text }) => check(text).findings);

  it("has a reason and a mend for each finding, in sentences that do not depend on the file's other lines", () => {
    for (const { reason, mend, rule } of all) {
      expect(reason.length, rule).toBeGreaterThan(10);
      expect(mend, rule).toMatch(/\.$/);
    }
  });

  it("never repeats a secret of the file: neither of a URL nor an inline key", () => {
    const said = JSON.stringify(all);
    for (const secret of ["8f14e45fceea167a5a36dedd4bea2543", "hunter2", pem("PRIVATE KEY")]) {
      expect(said).not.toContain(secret);
    }
  });
});

describe("docs/configuration.md", () => {
  it("names every rule that there is, and no other", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/configuration.md"), "utf8");
    const table = page.slice(page.indexOf("### What it finds"));
    const folder = join(import.meta.dirname, "../../src/cli/check");
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
      /(?<!\.test)\.ts$/.test(file),
    );
    const code = sources.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
    const rules = [...code.matchAll(/rule: (?:\w+ \? )?"([\w-]+)"(?: : "([\w-]+)")?/g)].flatMap(([, one, two]) => [
      one,
      two,
    ]);
    const wanted = [...new Set(rules.filter((rule) => rule !== undefined))].sort();
    expect(wanted.length).toBeGreaterThan(30);
    const named = [
      ...table.matchAll(/`([a-z]+(?:-[a-z]+)+|weight|pem|duration|nanoseconds|url|scheme|gangs|autoscalers)`/g),
    ];
    expect([...new Set(named.map(([, rule]) => rule))].sort()).toEqual(wanted);
  });
});
