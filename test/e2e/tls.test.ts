import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { createAuthority } from "../controlplane/authority.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { type RunningFunction, startOnNode } from "./function.ts";
import { e2e } from "./gate.ts";
import { extenderEntry, nextName, placed, plainNode, profiles, refused } from "./scheduling.ts";

const SECRET = "e2e-tls-path-secret";
const policy = {
  configuration: {
    profiles: [{ name: "default", plugins: [{ name: "Random" }] }],
    callers: [
      { name: "by-path", credentials: [{ path: "CLUSTER_A_PATH" }], profiles: ["default"] },
      { name: "by-certificate", credentials: [{ certificate: "scheduler.cluster-b.example" }], profiles: ["default"] },
    ],
  },
  secrets: { CLUSTER_A_PATH: SECRET },
};

await e2e("the TLS settings of an extender", (versions) => {
  let plane: ControlPlane;
  let served: RunningFunction;
  /** The base64 of an authority that has nothing to do with the function. */
  let strange: string;
  /** `certFile` and `keyFile`. */
  let client: JsonObject;
  beforeAll(async () => {
    plane = await startControlPlane();
    const clients = await createAuthority("clients of the function");
    served = await startOnNode(plane, policy, clients.caPem);
    strange = Buffer.from(clients.caPem).toString("base64");
    const { certPem, keyPem } = await clients.issue({ name: "scheduler.cluster-b.example" });
    client = { certFile: join(plane.folder, "client.crt"), keyFile: join(plane.folder, "client.key") };
    await writeFile(String(client["certFile"]), certPem);
    await writeFile(String(client["keyFile"]), keyPem, { mode: 0o600 });
    await createNodes(plane.api, [plainNode("one"), plainNode("two")]);
  }, 120_000);
  afterAll(() => plane?.stop());

  describe.each(versions)("with kube-scheduler %s", (version) => {
    /** Starts a kube-scheduler with one extender, which filters, and gives a pod of it. */
    async function withPod<T>(entry: JsonObject, use: (pod: Pod) => Promise<T>): Promise<T> {
      const config = {
        profiles: profiles(["tls"], { preemption: false }),
        extenders: [{ filterVerb: "filter", ...entry }],
      };
      const scheduler = await startScheduler(plane, { version, config });
      const pod = await plane.api.create<Pod>(buildPod({ name: nextName(), schedulerName: "tls", cpu: "100m" }));
      try {
        return await use(pod);
      } finally {
        await plane.api.remove(pod);
        await scheduler.stop();
      }
    }

    const withSecret = (): JsonObject => extenderEntry(served, `${SECRET}/default`, {});
    const callerOf = (pod: Pod): string | undefined =>
      served.decisions().find(({ pod: name }) => name === `default/${pod.metadata.name}`)?.caller;

    it("with a client certificate from files make the scheduler known to the function without any secret in the URL", async () => {
      const entry = extenderEntry(served, "default", { tlsConfig: { caData: served.caData, ...client } });
      await withPod(entry, async (pod) => {
        await placed(plane, pod);
        expect(callerOf(pod)).toBe("by-certificate");
      });
    });

    it("with the wrong CA, or with none and no enableHTTPS, have the function never asked", async () => {
      const { enableHTTPS: _, tlsConfig: __, ...bare } = withSecret();
      for (const entry of [{ ...withSecret(), tlsConfig: { caData: strange } }, bare]) {
        await withPod(entry, async (pod) => {
          expect(await refused(plane, pod)).toContain("certificate signed by unknown authority");
          expect(callerOf(pod)).toBeUndefined();
        });
      }
    });

    it("with enableHTTPS and without a CA have no certificate checked at all", async () => {
      const { tlsConfig: _, ...unchecked } = withSecret();
      await withPod(unchecked, async (pod) => {
        await placed(plane, pod);
        expect(callerOf(pod)).toBe("by-path");
      });
    });

    it("with insecure and a CA together keep kube-scheduler from starting", async () => {
      const entry = { ...withSecret(), tlsConfig: { caData: served.caData, insecure: true } };
      const started = withPod(entry, async () => "started");
      await expect(started).rejects.toThrow("insecure flag is not allowed");
    });
  });
});
