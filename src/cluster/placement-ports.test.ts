import { describe, expect, it } from "vitest";
import { type Behaviour, connectTo, fakeApi, refuse, reply } from "./api-fixture.ts";
import { placementPorts } from "./placement-ports.ts";

async function portsTo(behaviour: Behaviour) {
  const api = await fakeApi(behaviour);
  return { api, ports: placementPorts(await connectTo(api), { within: 300 }) };
}

const POD = { namespace: "shop", name: "web-0" };
const ORDER = { ...POD, uid: "u1", resourceVersion: "7", nodeName: "n1", annotations: { a: "b" } };
const LEDGER = { metadata: { name: "n1", resourceVersion: "3" }, spec: { claims: [] } };
const NOT_FOUND: Behaviour = (_, answer) => refuse(answer, 404, "NotFound", 'nodeledgers.berth.dev "n1" not found');
const UNSERVED: Behaviour = (_, answer) => answer.writeHead(404).end("404 page not found\n");

/** What may happen to a write, and how the protocol is told. */
const OUTCOMES: readonly (readonly [string, Behaviour, object])[] = [
  ["409 as a conflict", (_, answer) => refuse(answer, 409, "Conflict", "changed"), { kind: "conflict" }],
  ["404 as gone", NOT_FOUND, { kind: "gone" }],
  ["403 as rejected", (_, answer) => refuse(answer, 403, "Forbidden"), { kind: "rejected", status: 403 }],
  ["422 as rejected", (_, answer) => refuse(answer, 422, "Invalid"), { kind: "rejected", status: 422 }],
  ["429 as rejected", (_, answer) => refuse(answer, 429, "TooManyRequests"), { kind: "rejected", status: 429 }],
  ["500 as unknown", (_, answer) => refuse(answer, 500, "InternalError"), { kind: "unknown" }],
  ["504 as unknown", (_, answer) => refuse(answer, 504, "Timeout"), { kind: "unknown" }],
  ["a reset as unknown", (_, answer) => answer.destroy(), { kind: "unknown" }],
  ["silence as unknown", () => undefined, { kind: "unknown" }],
];

/** The same for a pod, where a 404 that the API server itself did not write says nothing about the pod. */
const POD_OUTCOMES: typeof OUTCOMES = [["404 without a Status as unknown", UNSERVED, { kind: "unknown" }]];

describe("a Binding", () => {
  it("carries the pod's UID and version, and all annotations, in one write (kubernetes #105261)", async () => {
    const { api, ports } = await portsTo((_, answer) => reply(answer, 201, { kind: "Status", status: "Success" }));
    await ports.postBinding(ORDER);
    expect(api.arrived.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      {
        method: "POST",
        path: "/api/v1/namespaces/shop/pods/web-0/binding",
        body: {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { ...POD, uid: "u1", resourceVersion: "7", annotations: { a: "b" } },
          target: { apiVersion: "v1", kind: "Node", name: "n1" },
        },
      },
    ]);
  });

  it("names no version for a pod that asks for no device", async () => {
    const { api, ports } = await portsTo((_, answer) => reply(answer, 201, {}));
    const { resourceVersion: _, ...order } = ORDER;
    await ports.postBinding(order);
    expect(api.arrived[0]?.body["metadata"]).not.toHaveProperty("resourceVersion");
  });

  it.each([
    ["a Status", '{"kind":"Status","apiVersion":"v1","status":"Success","code":201}'],
    ["nothing", ""],
    ["no JSON", "created"],
  ])("answered 201 with %s counts as bound (client-python #547)", async (_, text) => {
    const { ports } = await portsTo((__, answer) => answer.writeHead(201).end(text));
    expect(await ports.postBinding(ORDER)).toEqual({ kind: "bound" });
  });

  it.each([...OUTCOMES, ...POD_OUTCOMES])("tells %s, and is never sent twice", async (_, behaviour, outcome) => {
    const { api, ports } = await portsTo(behaviour);
    expect(await ports.postBinding(ORDER)).toMatchObject(outcome);
    expect(api.arrived).toHaveLength(1);
  });
});

describe("a revocation", () => {
  it("touches nothing of the pod but its own annotation, under the version that showed it unbound (gpushare #122)", async () => {
    const { api, ports } = await portsTo((_, answer) => reply(answer, 200, {}));
    const order = { ...POD, uid: "u1", resourceVersion: "7", claimId: "c1" };
    expect(await ports.markRevoked(order)).toEqual({ kind: "patched" });
    const { method, path, headers, body } = api.arrived[0] ?? expect.fail("nothing arrived");
    expect({ method, path, type: headers["content-type"], body }).toEqual({
      method: "PATCH",
      path: "/api/v1/namespaces/shop/pods/web-0",
      type: "application/merge-patch+json",
      body: { metadata: { uid: "u1", resourceVersion: "7", annotations: { "berth.dev/revoked": "c1" } } },
    });
  });

  it.each([...OUTCOMES, ...POD_OUTCOMES])("tells %s, and is never sent twice", async (_, behaviour, outcome) => {
    const { api, ports } = await portsTo(behaviour);
    const order = { ...POD, uid: "u1", resourceVersion: "7", claimId: "c1" };
    expect(await ports.markRevoked(order)).toMatchObject(outcome);
    expect(api.arrived).toHaveLength(1);
  });
});

describe("reading a pod", () => {
  it("gives the object with every field, read freshly", async () => {
    const pod = { metadata: { name: "web-0", creationTimestamp: "2026-01-01T00:00:00Z" }, spec: { brandNew: true } };
    const { api, ports } = await portsTo((_, answer) => reply(answer, 200, pod));
    expect(await ports.readPod(POD)).toEqual({ kind: "found", object: pod });
    expect(api.arrived[0]?.query.has("resourceVersion")).toBe(false);
  });

  it("tells 404 as gone, and learns nothing from any other failure", async () => {
    const { api, ports } = await portsTo((_, answer) => refuse(answer, 404, "NotFound"));
    expect(await ports.readPod(POD)).toEqual({ kind: "gone" });
    for (const status of [400, 401, 403, 429, 500]) {
      api.behave((_, answer) => refuse(answer, status, "Reason"));
      expect(await ports.readPod(POD)).toMatchObject({ kind: "unknown" });
    }
    api.behave(UNSERVED);
    expect(await ports.readPod(POD)).toMatchObject({ kind: "unknown" });
  });
});

describe("listing the pods of a node", () => {
  it("follows all pages", async () => {
    const pages = [
      { metadata: { continue: "more" }, items: [{ metadata: { name: "a" } }] },
      { metadata: {}, items: [{ metadata: { name: "b" } }] },
    ];
    const { api, ports } = await portsTo((_, answer) => reply(answer, 200, pages.shift()));
    const listed = await ports.listPodsOnNode("n1");
    expect(listed).toEqual({ kind: "pods", pods: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }] });
    expect(api.arrived.map(({ path, query }) => [path, query.get("fieldSelector"), query.get("continue")])).toEqual([
      ["/api/v1/pods", "spec.nodeName=n1", null],
      ["/api/v1/pods", "spec.nodeName=n1", "more"],
    ]);
  });

  it("takes null for a list of none, and anything that is no list for not knowing", async () => {
    const { api, ports } = await portsTo((_, answer) => reply(answer, 200, { items: null }));
    expect(await ports.listPodsOnNode("n1")).toEqual({ kind: "pods", pods: [] });
    for (const answered of [{}, { items: "x" }, { items: [null] }]) {
      api.behave((_, answer) => reply(answer, 200, answered));
      expect(await ports.listPodsOnNode("n1")).toMatchObject({ kind: "unknown" });
    }
  });

  it("learns nothing when a later page fails", async () => {
    const first = { metadata: { continue: "more" }, items: [{ metadata: { name: "a" } }] };
    const { ports } = await portsTo((arrived, answer) => {
      if (arrived.query.has("continue")) refuse(answer, 410, "Expired");
      else reply(answer, 200, first);
    });
    expect(await ports.listPodsOnNode("n1")).toMatchObject({ kind: "unknown" });
  });
});

describe("a ledger", () => {
  it("is read, created and replaced under its node's name", async () => {
    const { api, ports } = await portsTo((_, answer) => reply(answer, 200, LEDGER));
    expect(await ports.readLedger("n1")).toEqual({ kind: "found", object: LEDGER });
    expect(await ports.createLedger(LEDGER)).toEqual({ kind: "written", object: LEDGER });
    expect(await ports.updateLedger(LEDGER)).toEqual({ kind: "written", object: LEDGER });
    expect(api.arrived.map(({ method, path, text }) => [method, path, text])).toEqual([
      ["GET", "/apis/berth.dev/v1alpha1/nodeledgers/n1", ""],
      ["POST", "/apis/berth.dev/v1alpha1/nodeledgers", JSON.stringify(LEDGER)],
      ["PUT", "/apis/berth.dev/v1alpha1/nodeledgers/n1", JSON.stringify(LEDGER)],
    ]);
  });

  it("that is missing is gone, but without its resource definition nobody knows", async () => {
    const { api, ports } = await portsTo(NOT_FOUND);
    expect(await ports.readLedger("n1")).toEqual({ kind: "gone" });
    api.behave(UNSERVED);
    const message = "The API server does not serve nodeledgers.berth.dev: apply infra/crd/nodeledgers.yaml.";
    expect(await ports.readLedger("n1")).toEqual({ kind: "unknown", message });
    expect(await ports.createLedger(LEDGER)).toEqual({ kind: "rejected", status: 404, message });
  });

  it.each(OUTCOMES)("written tells %s, and is never sent twice", async (_, behaviour, outcome) => {
    const { api, ports } = await portsTo(behaviour);
    expect(await ports.updateLedger(LEDGER)).toMatchObject(outcome);
    expect(await ports.createLedger(LEDGER)).toMatchObject(outcome);
    expect(api.arrived).toHaveLength(2);
  });

  it("that was stored but answered unreadably is unknown", async () => {
    const { ports } = await portsTo((_, answer) => answer.writeHead(200).end('{"metadata":'));
    expect(await ports.updateLedger(LEDGER)).toMatchObject({ kind: "unknown" });
  });
});
