import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { check } from "../check/check.ts";
import { parseMinor } from "../kube-scheduler/versions.ts";
import { generateConfiguration } from "./generate.ts";
import { ConfigurationRefused, type ConfigurationWish, PLATFORMS, type Platform, WIRINGS } from "./options.ts";

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const path = fc.constantFrom("/etc/berth/a.crt", "/k8s/b.pem");
const certificate = Buffer.from("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n").toString("base64");

const FUNCTIONS = ["https://a.example.com", "https://10.0.0.1:8443/0123456789abcdef/", "http://127.0.0.1:8787"];
const BINDERS = ["https://10.96.0.20", "https://berth-binder.berth-system.svc", "http://127.0.0.1:32766"];
const resources = fc.uniqueArray(
  fc.record({ name: fc.constantFrom("aliyun.com/gpu-mem", "example.com/a", "example.com/b"), ignored: fc.boolean() }),
  { selector: ({ name }) => name, maxLength: 3 },
);

/** What fits together more often than not. */
const target = fc.oneof(
  fc.record({ functionUrl: fc.constantFrom(...FUNCTIONS) }),
  fc.record({ functionUrl: fc.constantFrom(...FUNCTIONS), caData: fc.constant(certificate) }),
  fc.record({ functionUrl: fc.constantFrom(...FUNCTIONS), clientCert: path, clientKey: path }),
  fc.record({
    binderUrl: fc.constantFrom(...BINDERS),
    clientCert: path,
    clientKey: path,
    caFile: path,
    serverName: maybe(fc.constant("a.b.svc")),
  }),
  fc.record({ binderUrl: fc.constantFrom(...BINDERS) }),
  fc.record({
    functionUrl: maybe(fc.constantFrom(...FUNCTIONS)),
    binderUrl: maybe(fc.constantFrom(...BINDERS)),
    caFile: maybe(path),
    caData: maybe(path),
    clientCert: maybe(path),
  }),
);

const wish = fc
  .record({
    wiring: fc.constantFrom(...WIRINGS),
    kubernetesVersion: fc.constantFrom("1.24", "1.25", "1.29", "1.33", "1.34.4", "v1.35.4", "1.36.3", "1.37.2", "1.40"),
    platform: fc.constantFrom(...(Object.keys(PLATFORMS) as Platform[])),
    profile: fc.constantFrom("default", "gpushare-scheduler", "a"),
    managedResources: resources,
    weight: fc.integer({ min: 1, max: 100 }),
    timeout: maybe(fc.constantFrom("300ms", "5s", "1m")),
    ignorable: maybe(fc.boolean()),
    schedulerName: fc.constantFrom("berth", "gpu.scheduler"),
    lease: fc.constantFrom("berth-system/berth-scheduler", "kube-system/other"),
  })
  .chain((rest) => target.map((where) => ({ ...rest, ...where })));

const OLD_FILES = [
  undefined,
  "apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: berth, plugins: {}}]\n",
  '{"kind":"Policy","apiVersion":"v1","extenders":[{"urlPrefix":"http://127.0.0.1:1/x","enableHttps":false,"prioritizeVerb":"p","weight":1}]}',
];

describe("whatever berth config is asked for", () => {
  it("it either refuses in one sentence or writes a file in which berth check finds no error", () => {
    let written = 0;
    const property = fc.property(wish, fc.constantFrom(...OLD_FILES), (options, from) => {
      const text = generated(options as ConfigurationWish, from);
      if (text === undefined) return;
      written += 1;
      const minor = parseMinor(options.kubernetesVersion);
      const errors = check(text, minor === undefined ? {} : { minor }).findings.filter(
        ({ severity }) => severity === "error",
      );
      expect(errors).toEqual([]);
      expect(text).toMatch(
        /enableHTTPS: true\n\s*tlsConfig:\n(\s*serverName: .*\n)?\s*ca(File|Data): |^((?!enableHTTPS: true).)*$/s,
      );
    });
    fc.assert(property, { numRuns: 1_500 });
    expect(written).toBeGreaterThan(50);
  });
});

/** Undefined where the wish is refused. */
function generated(options: ConfigurationWish, from: string | undefined): string | undefined {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  try {
    return generateConfiguration(Object.fromEntries(given) as unknown as ConfigurationWish, from).text;
  } catch (error) {
    if (!(error instanceof ConfigurationRefused)) throw error;
    expect(error.message).not.toContain("\n");
    return undefined;
  }
}
