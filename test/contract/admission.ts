import { describe, expect, it, vi } from "vitest";
import { args, JSON_BODY, SCORES } from "./fixtures.ts";
import { AS_A, AS_B, bearer, SECRETS } from "./secrets.ts";
import type { Abilities, Call, Start } from "./target.ts";
import { type Witness, witness as watch } from "./witness.ts";

const body = args();
const basic = (pair: string) => ({ Authorization: `Basic ${btoa(pair)}` });
const { CLUSTER_A_PATH, CLUSTER_A_NEXT_TOKEN, CLUSTER_A_BASIC, CLUSTER_B_PATH } = SECRETS;

/** Who may call, and what those are told who may not. */
export function admission(witness: () => Witness, start: Start, abilities: Abilities): void {
  const decide = (path: string, headers: Call["headers"] = {}, more: Call = {}) =>
    witness().ask(path, { headers: { ...JSON_BODY, ...headers }, body, ...more });

  describe("a caller", () => {
    it.each([
      ["a bearer token", "/default/prioritize", AS_A],
      ["the token that will replace it", "/default/prioritize", bearer(CLUSTER_A_NEXT_TOKEN)],
      ["Basic", "/default/prioritize", basic(CLUSTER_A_BASIC)],
      ["a secret in the path", `/${CLUSTER_A_PATH}/default/prioritize`, {}],
      ["a secret in the path and a slash at the end", `/${CLUSTER_A_PATH}/default/prioritize/`, {}],
    ])("is known by %s", async (_, path, headers) => {
      const { status, json } = await decide(path, headers);
      expect(status).toBe(200);
      expect(json).toEqual(SCORES);
    });

    it("is known by a verified client certificate, and by no other", async () => {
      expect((await decide("/default/prioritize", {}, { certificate: "cluster-a" })).json).toEqual(SCORES);
      expect((await decide("/batch/prioritize", {}, { certificate: "cluster-a" })).status).toBe(404);
      expect((await decide("/default/prioritize", {}, { certificate: "stranger" })).status).toBe(401);
      expect((await decide("/default/prioritize", AS_A, { certificate: "stranger" })).status).toBe(200);
    });

    it("sees its own profiles and no others, not even that they exist", async () => {
      expect((await decide("/batch/prioritize", AS_B)).status).toBe(200);
      expect((await decide(`/${CLUSTER_B_PATH}/batch/prioritize`)).status).toBe(200);
      const foreign = [
        await decide("/batch/prioritize", AS_A),
        await decide("/default/prioritize", AS_B),
        await decide(`/${CLUSTER_B_PATH}/default/prioritize`),
        await decide(`/${CLUSTER_A_PATH}/batch/prioritize`),
        await decide("/nowhere/prioritize", AS_A),
      ];
      for (const { status, json } of foreign) {
        expect(status).toBe(404);
        expect(json).toEqual({ error: "no such profile for this caller" });
      }
      expect((await witness().ask("/batch", { headers: AS_A })).status).toBe(404);
      expect((await witness().ask("/batch", { headers: AS_B })).status).toBe(200);
    });
  });

  describe("who is not known", () => {
    it.each([
      ["no credential", {}],
      ["a wrong token", bearer(`${SECRETS.CLUSTER_A_TOKEN}x`)],
      ["the beginning of a token", bearer(SECRETS.CLUSTER_A_TOKEN.slice(0, -1))],
      ["a path secret as a token", bearer(CLUSTER_A_PATH)],
      ["a wrong password", basic("contract-suite-user:contract-suite")],
      ["a token as Basic", basic(SECRETS.CLUSTER_A_TOKEN)],
      ["Basic that is not base64", { Authorization: "Basic ???" }],
      ["an unknown scheme", { Authorization: `Digest ${SECRETS.CLUSTER_A_TOKEN}` }],
    ])("gets 401 for %s, whatever is asked", async (_, headers) => {
      for (const [path, call] of [
        ["/default/filter", { body }],
        ["/nowhere/filter", { body }],
        ["/default", {}],
        ["/default/filter", { method: "DELETE" }],
      ] as const) {
        const answer = await witness().ask(path, { ...call, headers });
        expect(answer.status).toBe(401);
        expect(answer.json).toEqual({ error: "a credential is missing or not accepted" });
        expect(answer.headers.get("www-authenticate")).toContain("Bearer");
        expect(answer.headers.get("berth-policy")).toBeNull();
      }
    });

    it("gets 404 for a wrong path secret, and no other proof heals it", async () => {
      for (const secret of ["wrong", SECRETS.CLUSTER_A_TOKEN, `${CLUSTER_A_PATH}x`]) {
        for (const call of [{}, { certificate: "cluster-a" }] as const) {
          const { status, json } = await decide(`/${secret}/default/filter`, AS_A, call);
          expect(status).toBe(404);
          expect(json).toEqual({ error: "no such path" });
        }
      }
    });

    if (abilities.streams !== false)
      it("is turned away before the body is read", async () => {
        const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
        const unfinished = new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(new TextEncoder().encode('{"Pod":')),
          async pull(controller) {
            await finished;
            controller.close();
          },
        });
        const before = witness().lines().length;
        const answer = decide("/default/filter", bearer("a token that nobody has"), { body: unfinished });
        await vi.waitFor(() => {
          const since = witness().lines().slice(before);
          expect(since).toContainEqual(expect.objectContaining({ message: "request turned away", status: 401 }));
        });
        finish();
        expect((await answer).status).toBe(401);
      });
  });

  it("answers 404 to verbs and paths that nobody answers", async () => {
    for (const path of ["/default/frobnicate", "/default/Filter", "/", "/a/b/c/d", "/%zz/filter"]) {
      expect((await decide(path, AS_A)).status, path).toBe(404);
    }
    for (const verb of ["bind", "preempt"]) {
      expect((await decide(`/default/${verb}`, AS_A)).json.error).toBe(
        `${verb} is not answered here: it is the binder's verb`,
      );
    }
  });

  it("answers 405 to a wrong method and names the right one", async () => {
    for (const [method, path, allow] of [
      ["GET", "/default/filter", "POST"],
      ["PUT", "/default/prioritize", "POST"],
      ["POST", "/default", "GET"],
      ["DELETE", "/default", "GET"],
      ["POST", "/healthz", "GET"],
    ] as const) {
      const { status, headers } = await witness().ask(path, { method, headers: AS_A });
      expect(status, `${method} ${path}`).toBe(405);
      expect(headers.get("allow")).toBe(allow);
    }
  });

  it("answers 415 to any content type but JSON", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"]) {
      expect((await decide("/default/filter", { ...AS_A, "Content-Type": type })).status, type).toBe(415);
    }
    const charset = await decide("/default/filter", { ...AS_A, "Content-Type": "Application/JSON; charset=utf-8" });
    expect(charset.status).toBe(200);
  });

  describe("the function without a secret", () => {
    it("refuses everything and logs which secrets are missing", async () => {
      const closed = watch(await start({ secrets: {} }));
      for (const headers of [{}, AS_A, AS_B, basic(CLUSTER_A_BASIC), bearer(""), bearer("undefined")]) {
        expect((await closed.ask("/default/filter", { headers: { ...JSON_BODY, ...headers }, body })).status).toBe(401);
      }
      for (const secret of [CLUSTER_A_PATH, "undefined"]) {
        expect((await closed.ask(`/${secret}/default/filter`, { headers: JSON_BODY, body })).status).toBe(404);
      }
      await vi.waitFor(() => {
        for (const name of Object.keys(SECRETS)) {
          const message = `secret ${name} is not set: this credential is not accepted`;
          expect(closed.lines()).toContainEqual(expect.objectContaining({ level: "error", message }));
        }
      });
      expect(closed.leaks()).toEqual([]);
      await closed.target.stop();
    });

    if (abilities.local === false)
      it("lets nobody in by a loopback address, which it has none of", async () => {
        const open = watch(await start({ secrets: {}, open: "loopback" }));
        expect((await open.ask("/default/prioritize", { headers: JSON_BODY, body })).status).toBe(401);
        await open.target.stop();
      });

    if (abilities.local !== false)
      it("lets anybody of this machine in when it is open on loopback, and nobody else", async () => {
        const open = watch(await start({ secrets: {}, open: "loopback" }));
        const call = { headers: JSON_BODY, body };
        expect((await open.ask("/default/prioritize", call)).json).toEqual(SCORES);
        expect((await open.ask("/batch/prioritize", call)).status).toBe(200);
        expect((await open.ask("/wrong/default/prioritize", call)).status).toBe(404);
        if (abilities.distance) {
          expect((await open.ask("/default/prioritize", { ...call, from: "elsewhere" })).status).toBe(401);
        }
        await vi.waitFor(() => {
          expect(open.lines()).toContainEqual(
            expect.objectContaining({ level: "warn", message: expect.stringMatching(/^open on loopback: /) }),
          );
        });
        await open.target.stop();
      });
  });
}
