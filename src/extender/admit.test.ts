import { describe, expect, it } from "vitest";
import { admit } from "./admit.ts";
import type { Caller, Identify } from "./callers.ts";
import type { Decider } from "./decider.ts";

const SECRET = "a-path-secret-of-good-length";
const caller: Caller = { name: "cluster-a", profiles: ["default"] };
const identify: Identify = async ({ path, authorization }) =>
  path === SECRET || (path === undefined && authorization === "Bearer good") ? caller : undefined;
const decider = { policy: "default@1" } as Decider;
const deciders = (profile: string) => (["default", "batch"].includes(profile) ? decider : undefined);

async function ask(method: string, path: string, headers: Record<string, string> = {}) {
  const request = new Request(`https://berth.example${path}`, { method, headers });
  const admitted = await admit(request, { identify, deciders, peer: { loopback: false } });
  return "status" in admitted ? admitted.status : admitted.verb;
}

const json = { "Content-Type": "application/json" };
const good = { ...json, Authorization: "Bearer good" };

describe("admission", () => {
  it("lets a caller ask every verb of its profile, by header or by path secret", async () => {
    expect(await ask("POST", "/default/filter", good)).toBe("filter");
    expect(await ask("POST", "/default/prioritize", good)).toBe("prioritize");
    expect(await ask("POST", "/default/evaluate", good)).toBe("evaluate");
    expect(await ask("GET", "/default", good)).toBe("describe");
    expect(await ask("POST", `/${SECRET}/default/filter`, json)).toBe("filter");
    expect(await ask("GET", `/${SECRET}/default`)).toBe("describe");
    expect(await ask("POST", "/default/filter/", good)).toBe("filter");
  });

  it("answers 401 to a missing or wrong credential and 404 to a wrong path secret", async () => {
    expect(await ask("POST", "/default/filter", json)).toBe(401);
    expect(await ask("POST", "/default/filter", { ...json, Authorization: "Bearer bad" })).toBe(401);
    expect(await ask("POST", "/unknown/filter", json)).toBe(401);
    expect(await ask("POST", "/wrong/default/filter", good)).toBe(404);
    expect(await ask("GET", "/wrong/default", good)).toBe(404);
  });

  it("answers 404 to an unknown profile, another caller's profile, an unknown verb and any other path", async () => {
    for (const path of ["/unknown/filter", "/batch/filter", "/default/frobnicate", "/", "/a/b/c/d", "/%zz/filter"]) {
      expect(await ask("POST", path, good), path).toBe(404);
    }
  });

  it("answers 405 to a wrong method and says the right one", async () => {
    expect(await ask("GET", "/default/filter", good)).toBe(405);
    expect(await ask("POST", "/default", good)).toBe(405);
    const request = new Request("https://berth.example/default/filter", { method: "PUT", headers: good });
    const turned = await admit(request, { identify, deciders, peer: { loopback: false } });
    expect(turned).toMatchObject({ status: 405, headers: { Allow: "POST" } });
  });

  it("answers 415 to any other content type and takes JSON with or without a charset", async () => {
    expect(await ask("POST", "/default/filter", { Authorization: "Bearer good" })).toBe(415);
    expect(await ask("POST", "/default/filter", { ...good, "Content-Type": "text/plain" })).toBe(415);
    expect(await ask("POST", "/default/filter", { ...good, "Content-Type": "application/jsonp" })).toBe(415);
    expect(await ask("POST", "/default/filter", { ...good, "Content-Type": "Application/JSON; charset=utf-8" })).toBe(
      "filter",
    );
  });

  it("judges the credential first: a stranger learns nothing about profiles, verbs or methods", async () => {
    for (const path of ["/default/filter", "/nothing/filter"]) expect(await ask("DELETE", path)).toBe(401);
  });
});
