import { describe, expect, it } from "vitest";
import { CONFLICT, LOST } from "../placement/fake-api-fixture.ts";
import { NODE, openedRig } from "../placement/protocol-fixture.ts";
import { bindTo } from "./bind.ts";

const TO = { node: NODE, policy: "test@1" };

async function setUp(gpu?: number) {
  const { api, rig } = await openedRig();
  api.addPod({ uid: "a", ...(gpu !== undefined && { gpu }) });
  const pod = api.pod("a");
  if (pod === undefined) throw new Error("no pod");
  const bind = (identity = "first", leaving?: AbortSignal) =>
    bindTo({ protocol: rig.binder, identity, ...(leaving && { leaving }) }, pod, TO);
  const ops = () => api.requests.map(({ op }) => op);
  return { api, bind, ops };
}

describe("binding a pod", () => {
  it("takes one Binding and no read, and says in it by which policy and by whom", async () => {
    const { api, bind, ops } = await setUp();
    expect(await bind()).toEqual({ kind: "bound", ours: true });
    expect(ops()).toEqual(["postBinding"]);
    expect(api.requests[0]?.argument).toMatchObject({
      uid: "a",
      nodeName: NODE.name,
      annotations: { "berth.dev/policy": "test@1", "berth.dev/bound-by": "first" },
    });
  });

  it("finds its own Binding when the answer was lost", async () => {
    const { api, bind } = await setUp(4);
    api.intercept = ({ op }, serve) => {
      const served = serve();
      return op === "postBinding" ? LOST : served;
    };
    expect(await bind()).toMatchObject({ kind: "bound", ours: true, claim: { device: "0" } });
  });

  it("does not wait for an API server that does not answer once nobody waits for it", async () => {
    const { api, bind } = await setUp();
    const asked: string[] = [];
    api.intercept = ({ op }) => {
      asked.push(op);
      return LOST;
    };
    const leaving = new AbortController();
    const binding = bind("first", leaving.signal);
    leaving.abort();
    expect(await binding).toMatchObject({ kind: "failed", over: false });
    expect(asked).toEqual(["postBinding", "readPod"]);
  });

  it("finds its own Binding when it was delivered twice and only the second answer has come", async () => {
    const { api, bind } = await setUp();
    api.intercept = ({ op }, serve) => {
      const served = serve();
      return op === "postBinding" ? CONFLICT : served;
    };
    expect(await bind()).toMatchObject({ kind: "bound", ours: true });
  });

  it("does not take the Binding of another for its own", async () => {
    const { bind } = await setUp();
    await bind("other");
    expect(await bind("first")).toEqual({ kind: "bound", ours: false });
  });

  it("says that a Binding which never arrived has failed, so that the pod is tried again", async () => {
    const { api, bind } = await setUp();
    api.intercept = ({ op }, serve) => (op === "postBinding" ? LOST : serve());
    expect(await bind()).toMatchObject({
      kind: "failed",
      over: false,
      message: expect.stringContaining("answer to the Binding was lost"),
    });
  });

  it("says that it is over for a pod that is gone", async () => {
    const { api, bind } = await setUp();
    api.changePod("a", () => undefined);
    expect(await bind()).toMatchObject({ kind: "failed", over: true });
  });
});
