import { describe, expect, it } from "vitest";
import type { PodVerb } from "../extender/decider.ts";
import { podObject } from "../placement/gpu-fixture.ts";
import { createCycles } from "../remote/cycles.ts";
import type { BindOptions } from "./bind.ts";
import { watch } from "./binder-fixture.ts";
import { type LivePolicy, nameOf } from "./live.ts";
import { live, requiring, takingAll } from "./policy-fixture.ts";
import { clusterVerbs, liveDeciders } from "./verbs.ts";

async function scene() {
  const watched = watch();
  watched.node("one");
  const policies = live(await takingAll(), watched.state);
  let now = 1_000;
  const options = {
    policies: { ...policies, has: (profile: string) => profile === "coming" || policies.has(profile) },
    cycles: createCycles<LivePolicy>(nameOf, () => now),
    answered: () => undefined,
    binding: {} as BindOptions,
    unready: () => undefined,
    metrics: { request: () => undefined, refusal: () => undefined },
    elapsed: () => now,
  };
  const deciders = liveDeciders(options);
  const version = () => `main@${policies.get("main")?.policy.version}`;
  /** The version that answers a verb for a pod. */
  const asked = (verb: PodVerb, uid: string) => {
    const decider = deciders("main");
    return (decider?.for?.(verb, uid) ?? decider)?.policy;
  };
  const later = (ms: number): void => {
    now += ms;
  };
  return { watched, policies, options, deciders, version, asked, later };
}

describe("a policy that changes while pods are placed", () => {
  it("answers prioritize, preempt and bind of a pod by the version that its filter was answered by", async () => {
    const { policies, version, asked } = await scene();
    const first = version();
    expect(asked("filter", "a")).toBe(first);
    policies.replaceOwn(await requiring("pool"));
    const second = version();
    expect(second).not.toBe(first);
    for (const verb of ["prioritize", "preempt", "bind"] as const) expect(asked(verb, "a"), verb).toBe(first);
    for (const verb of ["filter", "prioritize", "preempt", "bind"] as const)
      expect(asked(verb, "b"), verb).toBe(second);
    expect([asked("filter", "a"), asked("prioritize", "a"), asked("bind", "a")]).toEqual([second, second, second]);
  });

  it("decides by that version, not only in name", async () => {
    const { watched, policies, options, deciders, asked } = await scene();
    asked("filter", "a");
    policies.replaceOwn(await requiring("pool"));
    const args = {
      form: "names" as const,
      pod: podObject({ uid: "a" }),
      nodes: [{ name: "one", object: {} }],
      duplicates: [],
    };
    const decide = async (uid: string) => deciders("main")?.for?.("prioritize", uid).decide("prioritize", args);
    expect(await decide("a")).toMatchObject({ rows: [{ scores: [undefined] }] });
    expect(await decide("b")).toMatchObject({ rows: [{ refusal: { plugin: "NodeLabel" } }] });

    watched.pod({ uid: "low", node: "one", priority: 1 });
    const victims = async (uid: string) => {
      const pod = podObject({ uid, priority: 100 });
      const asking = { profile: "main", policy: "", signal: new AbortController().signal };
      const answer = await clusterVerbs(options).preempt({ pod, victims: new Map([["one", ["low"]]]) }, asking);
      return "victims" in answer ? [...answer.victims.keys()] : answer;
    };
    expect([await victims("a"), await victims("b")]).toEqual([["one"], []]);
  });

  it("lets the pod go on by the new version once its cycle must be over", async () => {
    const { policies, version, asked, later } = await scene();
    const first = version();
    asked("filter", "a");
    policies.replaceOwn(await requiring("pool"));
    later(31_000);
    expect([asked("prioritize", "a"), asked("preempt", "a")]).toEqual([version(), version()]);
    // Volumes may have been made ready for minutes; meanwhile nobody has judged the pod anew but prioritize.
    expect(asked("bind", "a")).toBe(version());
    expect(first).not.toBe(version());
  });

  it("names the version that scored a pod where an entry has no filter verb, each time the newest", async () => {
    const { policies, version, asked } = await scene();
    const first = version();
    expect(asked("prioritize", "a")).toBe(first);
    policies.replaceOwn(await requiring("pool"));
    expect([asked("bind", "a"), asked("prioritize", "a"), asked("bind", "a")]).toEqual([first, version(), version()]);
  });

  it("says that a policy has not come yet, instead of that there is no such profile", async () => {
    const { deciders } = await scene();
    expect(deciders("unknown")).toBeUndefined();
    const args = { form: "names" as const, pod: {}, nodes: [], duplicates: [] };
    expect(await deciders("coming")?.decide("filter", args)).toEqual({
      error: "The policy of profile coming has not come from the function yet",
    });
  });
});
