import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer as createPlain, type RequestListener } from "node:http";
import { createServer as createSecure } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { createNodes } from "../controlplane/nodes.ts";
import type { Pod } from "../controlplane/objects.ts";
import { buildPod } from "../controlplane/pods.ts";
import { type Scheduler, type SchedulerOptions, startScheduler } from "../controlplane/scheduler.ts";
import { e2e } from "./gate.ts";
import { nextName, placed, plainNode, refused } from "./scheduling.ts";

const RESOURCE = "example.com/gpu-mem";

await e2e("what berth check warns of and kube-scheduler takes", (versions) => {
  let plane: ControlPlane;
  const servers: Server[] = [];
  beforeAll(async () => {
    plane = await startControlPlane();
    await createNodes(
      plane.api,
      ["first", "second"].map((name) => plainNode(name)),
    );
  }, 180_000);
  afterAll(async () => {
    await plane?.stop();
    for (const server of servers) server.close();
  });

  /** Listens on this machine and gives the port. */
  async function listen(server: Server): Promise<number> {
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }

  /** Gives one answer to everything and notes the paths. */
  const json =
    (asked: (string | undefined)[], answer: unknown): RequestListener =>
    (request, response) => {
      asked.push(request.url);
      request.resume();
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(answer));
    };

  describe.each(versions)("with kube-scheduler %s", (version) => {
    async function withScheduler(
      options: Omit<SchedulerOptions, "version">,
      use: (scheduler: Scheduler) => Promise<void>,
    ) {
      const scheduler = await startScheduler(plane, { version, ...options });
      try {
        await use(scheduler);
      } finally {
        await scheduler.stop();
      }
    }

    const create = (options: JsonObject = {}): Promise<Pod> =>
      plane.api.create<Pod>(buildPod({ name: nextName(), cpu: "10m", ...options }));
    const asking = () => create({ limits: { [RESOURCE]: "1" }, requests: { [RESOURCE]: "1" } });

    it("binds the pod itself, without its device, when an ignorable binder fails (k/k #122494)", async () => {
      const asked: string[] = [];
      const binder = createPlain(json(asked, { Error: "no device is free" }));
      const entry = {
        urlPrefix: `http://127.0.0.1:${await listen(binder)}`,
        bindVerb: "bind",
        managedResources: [{ name: RESOURCE, ignoredByScheduler: true }],
      };
      await withScheduler({ config: { extenders: [{ ...entry, ignorable: true }] } }, async () => {
        const pod = await asking();
        await placed(plane, pod);
        expect(asked).toEqual(["/bind"]);
        expect((await plane.api.get<Pod>(pod)).metadata.annotations ?? {}).toEqual({});
      });
      await withScheduler({ config: { extenders: [{ ...entry, ignorable: false }] } }, async () => {
        const pod = await asking();
        expect(await refused(plane, pod)).toContain("no device is free");
        expect((await plane.api.get<Pod>(pod)).spec.nodeName).toBeUndefined();
        await plane.api.remove(pod);
      });
    });

    it("refuses every pod itself when no node advertises a resource that it is told to count (topolvm #235)", async () => {
      const asked: string[] = [];
      const port = await listen(createPlain(json(asked, [])));
      const entry = (ignoredByScheduler: boolean) => ({
        urlPrefix: `http://127.0.0.1:${port}`,
        prioritizeVerb: "prioritize",
        weight: 1,
        managedResources: [{ name: RESOURCE, ignoredByScheduler }],
      });
      await withScheduler({ config: { extenders: [entry(false)] } }, async () => {
        const pod = await asking();
        expect(await refused(plane, pod)).toContain(`Insufficient ${RESOURCE}`);
        expect(asked).toEqual([]);
        await plane.api.remove(pod);
      });
      await withScheduler({ config: { extenders: [entry(true)] } }, async () => {
        await placed(plane, await asking());
        expect(asked).toEqual(["/prioritize"]);
      });
    });

    it("presents no client certificate when its key is not named", async () => {
      const [server, client] = await Promise.all([
        plane.authority.issue({ name: "server" }),
        plane.authority.issue({ name: "kube-scheduler" }),
      ]);
      const presented: string[] = [];
      const tls = {
        cert: server.certPem,
        key: server.keyPem,
        ca: plane.caPem,
        requestCert: true,
        rejectUnauthorized: false,
      };
      const secure = createSecure(tls, (request, response) => {
        const { subject } = (request.socket as TLSSocket).getPeerCertificate();
        presented.push(subject === undefined ? "nothing" : String(subject.CN));
        json([], [])(request, response);
      });
      const port = await listen(secure);
      const [certFile, keyFile] = ["crt", "key"].map((end) => join(plane.folder, `half-${version}.${end}`)) as [
        string,
        string,
      ];
      await writeFile(certFile, client.certPem);
      await writeFile(keyFile, client.keyPem, { mode: 0o600 });
      for (const half of [{ certFile }, { certFile, keyFile }]) {
        const tlsConfig = { caData: Buffer.from(plane.caPem).toString("base64"), ...half };
        const entry = {
          urlPrefix: `https://127.0.0.1:${port}`,
          prioritizeVerb: "p",
          weight: 1,
          enableHTTPS: true,
          tlsConfig,
        };
        await withScheduler({ config: { extenders: [entry] } }, async () => void (await placed(plane, await create())));
      }
      expect(presented).toEqual(["nothing", "kube-scheduler"]);
    });

    it("writes an inline key into its log at -v=2", async () => {
      const { certPem, keyPem } = await plane.authority.issue({ name: "kube-scheduler" });
      const [certData, keyData] = [certPem, keyPem].map((pem) => Buffer.from(pem).toString("base64"));
      const entry = {
        urlPrefix: "https://127.0.0.1:1/default",
        prioritizeVerb: "p",
        weight: 1,
        tlsConfig: { certData, keyData },
      };
      await withScheduler({ config: { extenders: [entry] }, verbosity: 2 }, async ({ logs }) => {
        expect(logs()).toContain(keyData);
      });
    });

    it("waits for ever with the Lease that another scheduler holds (gpushare #54)", async () => {
      const elects = (resourceName: string) => ({ leaderElect: true, resourceNamespace: "kube-system", resourceName });
      // With the default Lease: system:kube-scheduler may have no other.
      const options = (schedulerName: string, leader: JsonObject): Omit<SchedulerOptions, "version"> => ({
        config: { leaderElection: leader, profiles: [{ schedulerName }] },
      });
      const leads = ({ logs }: Scheduler) => /successfully acquired lease/i.test(logs());
      await withScheduler(options("default-scheduler", elects("kube-scheduler")), async (first) => {
        await eventually("the first leads", () => leads(first), { within: 60_000 });
        await withScheduler(options("berth", elects("kube-scheduler")), async (second) => {
          const pod = await create({ schedulerName: "berth" });
          await eventually("the second asks for the Lease", () => /attempting to acquire/i.test(second.logs()));
          await withScheduler(options("other", { leaderElect: false }), async () => {
            await placed(plane, await create({ schedulerName: "other" }));
          });
          expect(leads(second)).toBe(false);
          expect((await plane.api.get<Pod>(pod)).spec.nodeName).toBeUndefined();
          await first.stop();
          await eventually("the second leads once the first has gone", () => leads(second), { within: 60_000 });
          await placed(plane, pod);
        });
      });
    });
  });
});
