import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateConfiguration } from "../../src/cli/config/generate.ts";
import type { ConfigurationWish } from "../../src/cli/config/options.ts";
import { readContents } from "../../src/cli/kube-scheduler/read.ts";
import { brokenConfigs } from "../cli/configs.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { KubeObject } from "../controlplane/objects.ts";
import { startWithFile } from "./config-file.ts";
import { e2e } from "./gate.ts";

/** What fixtures need of kube-scheduler's flags. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  "gone-flag.yaml": ["--policy-config-file=/etc/kubernetes/policy.json"],
  "gangs.yaml": ["--feature-gates=GenericWorkload=true"],
};

await e2e("kube-scheduler started with a file", (versions) => {
  let plane: ControlPlane;
  let kubeconfig: string;
  let tls: { caFile: string; clientCert: string; clientKey: string };
  let values: Record<string, string>;

  beforeAll(async () => {
    plane = await startControlPlane();
    kubeconfig = await plane.kubeconfig("admin");
    await plane.api.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "berth-system" } });
    const { certPem, keyPem } = await plane.authority.issue({ name: "kube-scheduler" });
    const file = async (name: string, text: string) => {
      await writeFile(join(plane.folder, name), text, { mode: 0o600 });
      return join(plane.folder, name);
    };
    const caFile = await file("ca.crt", plane.caPem);
    tls = { caFile, clientCert: await file("client.crt", certPem), clientKey: await file("client.key", keyPem) };
    const base64 = (pem: string) => Buffer.from(pem).toString("base64");
    values = {
      CA: caFile,
      CERT: tls.clientCert,
      CERTDATA: base64(certPem),
      KEYDATA: base64(keyPem),
      KUBECONFIG: kubeconfig,
    };
  }, 180_000);
  afterAll(() => plane?.stop());

  const lease = (namespace: string, name: string): KubeObject => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name },
  });

  /** Each wiring with much of what it can be asked for. */
  function wishes(version: string): ConfigurationWish[] {
    const base = {
      kubernetesVersion: version,
      profile: "default",
      weight: 5,
      schedulerName: "berth",
      lease: "berth-system/berth-scheduler",
      kubeconfig,
    };
    const resources = [{ name: "aliyun.com/gpu-mem", ignored: false }];
    const binder = { binderUrl: "https://10.96.0.20", serverName: "berth-binder.berth-system.svc", ...tls };
    return [
      {
        ...base,
        wiring: "prioritize-only",
        platform: "kubeadm",
        functionUrl: "https://berth.example.com",
        managedResources: [],
      },
      {
        ...base,
        wiring: "direct",
        platform: "k3s",
        functionUrl: "https://10.0.0.5:8443",
        ...tls,
        managedResources: resources,
        ignorable: false,
      },
      { ...base, wiring: "relay", platform: "rke2", ...binder, managedResources: [] },
      {
        ...base,
        wiring: "binder-only",
        platform: "talos",
        binderUrl: "http://127.0.0.1:32766",
        managedResources: resources,
      },
      { ...base, wiring: "second-scheduler", platform: "eks", ...binder, managedResources: [] },
    ];
  }

  describe.each(versions)("by kube-scheduler %s", (version) => {
    it.each(["prioritize-only", "direct", "relay", "binder-only", "second-scheduler"])(
      "that berth config writes for %s schedules: it starts, elects itself and is healthy",
      async (wiring) => {
        const wish = wishes(version).find((each) => each.wiring === wiring);
        if (wish === undefined) throw new Error(`${wiring} is not tried`);
        const { text, flags } = generateConfiguration(wish);
        const held =
          wiring === "second-scheduler"
            ? lease("berth-system", "berth-scheduler")
            : lease("kube-system", "kube-scheduler");
        // Whoever led before may not have said goodbye.
        if (await plane.api.find(held)) await plane.api.remove(held);
        const running = await startWithFile(plane, { version, text, flags });
        try {
          await eventually("it leads", () => /successfully acquired lease/i.test(running.logs()));
          expect(running.exit()).toBeUndefined();
        } finally {
          await running.stop();
        }
      },
    );
  });

  describe("by the newest kube-scheduler, that berth check has faults in", () => {
    const version = versions.at(-1) ?? "";

    it.each(
      brokenConfigs({}).map(({ name, refused }) => [
        name,
        refused === undefined ? "starts all the same" : "is refused",
      ]),
    )("%s %s", async (name) => {
      const broken = brokenConfigs(values).find((each) => each.name === name);
      if (broken === undefined) throw new Error(`${name} is gone`);
      const start = startWithFile(plane, { version, text: startable(broken.text), flags: FLAGS[name] ?? [] });
      if (broken.refused === undefined) return (await start).stop();
      const said = await start.then(
        () => "started",
        (error: Error) => error.message.replaceAll('\\"', '"'),
      );
      expect(said).toContain(broken.refused);
    });
  });

  /** A fixture as kube-scheduler can take it: out of its ConfigMap, with a credential, without waiting for a Lease. */
  function startable(text: string): string {
    const [found] = readContents(text).found;
    const inner = text.includes("kind: ConfigMap") && found ? found.document.toString() : text;
    const elects = inner.includes("leaderElection:") ? "" : "leaderElection: { leaderElect: false }\n";
    const credential = inner.includes("clientConnection:") ? "" : `clientConnection: { kubeconfig: ${kubeconfig} }\n`;
    return `${inner.trimEnd()}\n${elects}${credential}`;
  }
});
