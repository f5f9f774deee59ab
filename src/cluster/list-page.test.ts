import { describe, expect, it } from "vitest";
import { pathTree } from "../protocol/paths.ts";
import { ShapeError } from "../protocol/scan.ts";
import { readListPage } from "./list-page.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const wanted = pathTree(["spec.nodeName"]);
const items = (text: string) => [...(readListPage(bytes(text), wanted)?.items() ?? [])];

describe("a page of a list", () => {
  const item = '{"metadata":{"name":"a","managedFields":[{}]},"spec":{"nodeName":"n","containers":[]}}';
  const text = `{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"more"},"items":[${item},${item}]}\n`;

  it("tells its version and what to ask for next, and gives of its items what is wanted", () => {
    expect(readListPage(bytes(text), wanted)).toMatchObject({ version: "7", next: "more" });
    const kept = { metadata: { name: "a" }, spec: { nodeName: "n" } };
    expect(items(text)).toEqual([kept, kept]);
  });

  it("gives whole items where everything is wanted", () => {
    expect([...(readListPage(bytes(text), undefined)?.items() ?? [])]).toEqual([JSON.parse(item), JSON.parse(item)]);
  });

  it("reads alike when its items come before its metadata", () => {
    const turned = `{"items":[${item}],"metadata":{"resourceVersion":"7"}}`;
    expect(readListPage(bytes(turned), wanted)).toMatchObject({ version: "7", next: "" });
    expect(items(turned)).toHaveLength(1);
  });

  it.each(["null", "[]"])("has no items when they are %s", (none) => {
    expect(items(`{"metadata":{"resourceVersion":"7"},"items":${none}}`)).toEqual([]);
  });

  it("gives what is no object as an empty one, so that somebody counts it as bad", () => {
    expect(items('{"metadata":{"resourceVersion":"7"},"items":[7,null,{"metadata":{"name":"a"}}]}')).toEqual([
      {},
      {},
      { metadata: { name: "a" } },
    ]);
  });

  it.each(["7", "[]", "{}", '{"kind":"Status"}', '{"metadata":{"resourceVersion":"7"},"items":{}}'])(
    "is not what %s says",
    (other) => {
      expect(readListPage(bytes(other), wanted)).toBeUndefined();
    },
  );

  it("throws where the text breaks off, after the items before that", () => {
    for (let end = 1; end < text.length - 2; end++) {
      expect(() => items(text.slice(0, end))).toThrow(ShapeError);
    }
    const read = readListPage(bytes(text.slice(0, -5)), wanted)?.items();
    expect(read?.next().value).toMatchObject({ spec: { nodeName: "n" } });
    expect(() => read?.next()).toThrow(ShapeError);
  });
});
