import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonValue } from "../../test/arbitraries/json.ts";
import { type MetaVictims, preemptAnswer, readPreemptArgs } from "./preempt.ts";
import { ShapeError } from "./scan.ts";

const body = (text: string) => new TextEncoder().encode(text);
const read = (text: string) => Object.fromEntries(readPreemptArgs(body(text)).victims);
const answer = (victims: [string, MetaVictims][]) => new TextDecoder().decode(preemptAnswer(new Map(victims)));

describe("the arguments of preempt", () => {
  it("are read with whole pods, as kube-scheduler sends them without a node cache", () => {
    const text = `{"Pod":{"metadata":{"name":"p"}},"NodeNameToVictims":{"n1":{"Pods":[
      {"metadata":{"name":"a","uid":"1"}},{"metadata":{"name":"b","uid":"2"}}],"NumPDBViolations":1}},
      "NodeNameToMetaVictims":null}`;
    expect(readPreemptArgs(body(text)).pod).toEqual({ metadata: { name: "p" } });
    expect(read(text)).toEqual({ n1: ["1", "2"] });
  });

  it("are read with UIDs, as kube-scheduler sends them to an extender with a node cache", () => {
    const text = `{"Pod":{},"NodeNameToVictims":null,
      "NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"1"}],"NumPDBViolations":0},"n2":{"Pods":[{"UID":"2"}]}}}`;
    expect(read(text)).toEqual({ n1: ["1"], n2: ["2"] });
  });

  it.each([
    '{"pod":{},"nodeNameToMetaVictims":{"Node-1":{"pods":[{"uid":"1"}],"numPDBViolations":0}}}',
    '{"POD":{},"NODENAMETOMETAVICTIMS":{"Node-1":{"PODS":[{"Uid":"1"}]}}}',
  ])("are read in any casing, with the names of nodes as they are: %s", (text) => {
    expect(read(text)).toEqual({ "Node-1": ["1"] });
  });

  it("keep a node whose victims are missing, empty, null or unreadable, with no victims (k/k #139270)", () => {
    for (const victims of ["null", "{}", '{"Pods":null}', '{"Pods":[]}', '{"Pods":5}', "[]", '{"Pods":[null,{},5]}']) {
      expect(read(`{"Pod":{},"NodeNameToMetaVictims":{"n1":${victims}}}`)).toEqual({ n1: [] });
      expect(read(`{"Pod":{},"NodeNameToVictims":{"n1":${victims}}}`)).toEqual({ n1: [] });
    }
  });

  it("have no nodes when neither map came", () => {
    expect(read('{"Pod":{}}')).toEqual({});
    expect(read('{"Pod":{},"NodeNameToVictims":null,"NodeNameToMetaVictims":{}}')).toEqual({});
  });

  it.each([
    ["", "empty"],
    ["null", "object"],
    ["[]", "object"],
    ["{", "JSON"],
    ["{}", "Pod is missing"],
    ['{"Pod":null}', "Pod is missing"],
    ['{"Pod":[]}', "Pod must be an object"],
    ['{"Pod":{},"NodeNameToVictims":[]}', "NodeNameToVictims must be an object"],
  ])("are refused in words when they are %j", (text, words) => {
    expect(() => readPreemptArgs(body(text))).toThrow(ShapeError);
    expect(() => readPreemptArgs(body(text))).toThrow(words);
  });

  it("never fail in any other way, whatever the values are", () => {
    fc.assert(
      fc.property(jsonValue, jsonValue, (pod, nodes) => {
        try {
          readPreemptArgs(body(`{"Pod":${pod},"NodeNameToMetaVictims":${nodes},"NodeNameToVictims":{"n":${nodes}}}`));
        } catch (error) {
          expect(error).toBeInstanceOf(ShapeError);
        }
      }),
    );
  });
});

describe("the answer to preempt", () => {
  it("names victims by UID, in the order given, under the capitalised keys", () => {
    expect(answer([["n1", { Pods: [{ UID: "2" }, { UID: "1" }], NumPDBViolations: 1 }]])).toBe(
      '{"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"2"},{"UID":"1"}],"NumPDBViolations":1}}}',
    );
  });

  it("is an empty map, not null, when no node can be helped", () => {
    expect(answer([])).toBe('{"NodeNameToMetaVictims":{}}');
  });

  it("keeps a node of any name", () => {
    expect(answer([["__proto__", { Pods: [{ UID: "1" }], NumPDBViolations: 0 }]])).toContain('"__proto__":{"Pods"');
  });

  it("cannot be written with a null entry, a null victim or an empty list: the compiler refuses it", () => {
    const some: MetaVictims = { Pods: [{ UID: "1" }], NumPDBViolations: 0 };
    const writers = [
      // @ts-expect-error a null entry would crash kube-scheduler
      () => preemptAnswer(new Map([["n", null]])),
      // @ts-expect-error a list without victims would end the cycle
      () => preemptAnswer(new Map<string, MetaVictims>([["n", { Pods: [], NumPDBViolations: 0 }]])),
      // @ts-expect-error a null victim would crash kube-scheduler
      () => preemptAnswer(new Map<string, MetaVictims>([["n", { Pods: [null], NumPDBViolations: 0 }]])),
      () => preemptAnswer(new Map([["n", some]])),
    ];
    expect(writers).toHaveLength(4);
  });
});
