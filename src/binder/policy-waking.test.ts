import { describe, expect, it } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { watch } from "./binder-fixture.ts";
import { decideLive } from "./decider.ts";
import type { LivePolicy } from "./live.ts";
import { live, requiring, takingAll } from "./policy-fixture.ts";
import { createPolicyWaker } from "./policy-waking.ts";

async function scene() {
  const watched = watch();
  watched.node("one");
  watched.node("two");
  const policies = live(await requiring("pool"), watched.state);
  const woken: string[] = [];
  const waker = createPolicyWaker({
    state: watched.state,
    policies,
    wake: (node) => void woken.push(node),
    log: () => undefined,
  });
  const current = (): LivePolicy => {
    const now = policies.get("main");
    if (!now) throw new Error("the profile is missing");
    return now;
  };
  /** As kube-scheduler does; `by` is the version that answers. */
  const filter = async (pod: JsonObject, by: LivePolicy = current()): Promise<void> => {
    const nodes = ["one", "two"].map((name) => ({ name, object: {} }));
    waker.answered(by, pod, await decideLive(by, "filter", { pod, nodes }));
  };
  return { watched, policies, woken, waker, current, filter };
}

describe("waking pods for a policy", () => {
  it("touches a node that a pod was refused on and is not any more, when the policy changes", async () => {
    const { watched, policies, woken, waker, filter } = await scene();
    await filter(watched.pod({ uid: "a" }));
    policies.replaceOwn(await takingAll());
    await waker.idle();
    expect(woken).toEqual(["one"]);
  });

  it("touches nothing when the new policy refuses the pod as well", async () => {
    const { watched, policies, woken, waker, filter } = await scene();
    await filter(watched.pod({ uid: "a" }));
    policies.replaceOwn(await requiring("other"));
    await waker.idle();
    expect(woken).toEqual([]);
  });

  it("touches nothing for pods that were kept, that are bound by now or that are gone", async () => {
    const { watched, policies, woken, waker, filter } = await scene();
    await filter(watched.pod({ uid: "bound" }));
    watched.pod({ uid: "bound", node: "one" });
    const gone = watched.pod({ uid: "gone" });
    await filter(gone);
    watched.podGone(gone);
    policies.replaceOwn(await takingAll());
    await filter(watched.pod({ uid: "kept" }));
    policies.replaceOwn(await requiring("pool"));
    policies.replaceOwn(await takingAll());
    await waker.idle();
    expect(woken).toEqual([]);
  });

  it("forgets nobody who was being refused by the old policy at the very moment of the change", async () => {
    const { watched, policies, woken, waker, current, filter } = await scene();
    const old = current();
    policies.replaceOwn(await takingAll());
    await filter(watched.pod({ uid: "late" }), old);
    await waker.idle();
    expect(woken).toEqual(["one"]);
  });

  it("touches a node when more pods wait than are looked at, for one of them may profit", async () => {
    const { watched, policies, woken, waker, filter } = await scene();
    for (let pod = 0; pod < 60; pod++) await filter(watched.pod({ uid: `${pod}` }));
    policies.replaceOwn(await requiring("other"));
    await waker.idle();
    expect(woken).toEqual(["one"]);
  });
});
