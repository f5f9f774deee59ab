import { describe, expect, it } from "vitest";
import { bindAnswer, readBindArgs } from "./bind.ts";
import { ShapeError } from "./scan.ts";

const body = (text: string) => new TextEncoder().encode(text);

describe("the arguments of bind", () => {
  const expected = { namespace: "ns", name: "p", uid: "u", node: "n" };

  it.each([
    '{"PodName":"p","PodNamespace":"ns","PodUID":"u","Node":"n"}',
    '{"podName":"p","podNamespace":"ns","podUID":"u","node":"n","more":1}',
    '{"PODNAME":"p","podnamespace":"ns","poduid":"u","NODE":"n"}',
    '\ufeff {"PodName":"old","podname":"p","PodNamespace":"ns","PodUID":"u","Node":"n"} ',
  ])("are read in any casing: %s", (text) => {
    expect(readBindArgs(body(text))).toEqual(expected);
  });

  it.each(["", " ", "null", "[]", '"x"', "{", '{"PodName":'])(
    "are refused when they are no JSON object: %j",
    (text) => {
      expect(() => readBindArgs(body(text))).toThrow(ShapeError);
    },
  );

  it.each(["PodName", "PodNamespace", "PodUID", "Node"])(
    "are refused without %s, with its name in the message",
    (key) => {
      const all = { PodName: "p", PodNamespace: "ns", PodUID: "u", Node: "n" };
      for (const value of [undefined, null, "", 5, {}]) {
        expect(() => readBindArgs(body(JSON.stringify({ ...all, [key]: value })))).toThrow(key);
      }
    },
  );
});

describe("the answer to bind", () => {
  const text = (error: string) => new TextDecoder().decode(bindAnswer(error));

  it("has an empty error when the pod is bound, and the reason when it is not", () => {
    expect(text("")).toBe('{"Error":""}');
    expect(JSON.parse(text('no "GPU" is free'))).toEqual({ Error: 'no "GPU" is free' });
  });
});
