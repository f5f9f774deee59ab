import type { Socket } from "node:net";
import { expect, it, vi } from "vitest";
import { kubeconfig } from "../cluster/api-fixture.ts";
import { documentOf, fakeFunction, serving } from "../remote/function-fixture.ts";
import { startBinder } from "./binder.ts";

it("that cannot start asks its function no more, so that its process can end", async () => {
  const answer = serving(await documentOf([{ name: "NodeLabel" }]));
  const sockets = new Set<Socket>();
  const fake = await fakeFunction((request, response) => {
    sockets.add(request.socket);
    answer(request, response);
  });
  const from = {
    url: fake.url,
    token: () => undefined,
    profiles: ["default"],
    every: 50,
    deadline: 100,
    versionKey: "",
  };
  const starting = startBinder({
    source: { kubeconfig: await kubeconfig("http://127.0.0.1:1") },
    function: from,
    shadow: { function: { ...from, caFile: "/nowhere/ca.crt" }, profiles: new Map([["default", "default"]]) },
    host: "127.0.0.1",
    port: 0,
    openOnLoopback: true,
    bodyLimit: 1_000,
    secret: () => undefined,
    log: () => undefined,
  });
  await expect(starting).rejects.toThrow("/nowhere/ca.crt");
  expect(sockets.size).toBeGreaterThan(0);
  await vi.waitFor(() => expect([...sockets].every(({ destroyed }) => destroyed)).toBe(true));
});
