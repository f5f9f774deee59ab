import { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { checkConfiguration } from "../policy/configuration.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";
import type { App } from "./app.ts";
import { createFunction } from "./function.ts";

const LABELS = "nodeLabels(example.com/pool)";
const LIMIT = 200_000;
let app: App;

beforeAll(async () => {
  const checked = checkConfiguration(registry)({
    apiVersion: "berth.dev/v1alpha1",
    kind: "PolicyConfiguration",
    profiles: [{ name: "default", plugins: [{ name: "NodeLabel", args: { require: { "example.com/pool": [] } } }] }],
  });
  if ("faults" in checked) throw new Error("the configuration has faults");
  const facts = { apiVersion: "berth.dev/v1alpha1", kind: "FleetFacts" } as const;
  app = await createFunction(await loadPolicies(checked.value, facts, registry), {
    peer: () => ({ loopback: true }),
    openOnLoopback: true,
    secret: () => undefined,
    log: () => undefined,
    now: () => 0,
    bodyLimit: LIMIT,
    packs: true,
  });
});

function ask(body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> {
  const init = {
    method: "POST",
    body: new Uint8Array(Buffer.from(body)),
    headers: { "Content-Type": "application/json", ...headers },
  };
  return Promise.resolve(app.request("http://localhost/default/evaluate", init));
}

function question(nodes: number): string {
  const each = { [LABELS]: { "example.com/pool": "blue" } };
  return JSON.stringify({ protocol: 1, pod: {}, nodes: Array.from({ length: nodes }, () => each) });
}

describe("Questions and answers that are packed", () => {
  test("a packed question has the rows that a plain one has, packed if the asker takes that", async () => {
    const plain = await (await ask(question(300))).json();
    const answer = await ask(gzipSync(question(300)), { "Content-Encoding": "gzip", "Accept-Encoding": "gzip" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(answer.headers.get("berth-policy")).toMatch(/^default@/);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.length).toBeLessThan(1_000);
    expect(JSON.parse(gunzipSync(bytes).toString())).toEqual(plain);
  });

  test("a small answer is not packed", async () => {
    const answer = await ask(question(1), { "Accept-Encoding": "gzip" });
    expect(answer.headers.get("content-encoding")).toBeNull();
  });

  test("a question that unpacks to more than the limit is refused, however small it is packed", async () => {
    const answer = await ask(gzipSync(Buffer.alloc(LIMIT + 1, " ")), { "Content-Encoding": "gzip" });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toEqual({ error: "the body unpacks to more bytes than the limit" });
  });

  test("what only says that it is packed is refused with a sentence", async () => {
    const answer = await ask(question(1), { "Content-Encoding": "gzip" });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error: "the body says that it is packed with gzip and is not" });
  });
});

test("the profile is not sent again to who has it, also when a gateway has packed it and made its tag a weak one", async () => {
  const get = (known: string) => app.request("http://localhost/default", { headers: { "If-None-Match": known } });
  const tag = (await get("none")).headers.get("etag");
  for (const known of [`${tag}`, `W/${tag}`, `"other", W/${tag}`]) expect((await get(known)).status, known).toBe(304);
  expect((await get('"default@000"')).status).toBe(200);
});
