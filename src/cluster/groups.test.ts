import { expect, it } from "vitest";
import { connectTo, fakeApi, refuse, reply } from "./api-fixture.ts";
import { apiGroups } from "./groups.ts";

it("the API groups are told with their versions, the preferred one first", async () => {
  const version = (text: string) => ({ groupVersion: `x/${text}`, version: text });
  const groups = [
    { name: "policy", preferredVersion: version("v1"), versions: [version("v1beta1"), version("v1")] },
    { name: "broken", versions: null },
    null,
  ];
  const api = await fakeApi((_, answer) => reply(answer, 200, { kind: "APIGroupList", groups }));
  const answer = await apiGroups(await connectTo(api));
  expect(answer.kind === "groups" && answer.versions.get("policy")).toEqual(["v1", "v1beta1"]);
  expect(answer.kind === "groups" && answer.versions.get("broken")).toEqual([]);
  expect(api.arrived[0]?.path).toBe("/apis");
});

it("the API groups are not known when the server does not tell them", async () => {
  const api = await fakeApi((_, answer) => refuse(answer, 503, "ServiceUnavailable"));
  expect(await apiGroups(await connectTo(api))).toMatchObject({ kind: "unknown", cause: "server" });
});
