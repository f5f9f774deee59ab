import type * as http from "node:http";
import { describe, expect, it } from "vitest";
import { type Behaviour, connectTo, fakeApi, kubeconfig, refuse, reply } from "./api-fixture.ts";
import { connect } from "./connection.ts";

const NODES = { method: "GET", path: "/api/v1/nodes" } as const;

describe("a connection to the API server", () => {
  it("answers a success with the object as plain JSON, dates as strings", async () => {
    const pod = { metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" }, unknownToTheClient: [1] };
    const api = await fakeApi((_, answer) => reply(answer, 200, pod));
    const connection = await connectTo(api);
    expect(await connection.call(NODES)).toEqual({ kind: "ok", status: 200, object: pod });
  });

  it("sends query, body and content type, and keeps the server's path", async () => {
    const api = await fakeApi((_, answer) => reply(answer, 200, {}));
    const connection = await connectTo({ url: `${api.url}/clusters/a/` });
    const query = { limit: 5, labelSelector: "a=b,c!=d", continue: undefined, watch: true };
    await connection.call({ method: "POST", path: "/api/v1/x", query, body: { a: 1 }, contentType: "text/x" });
    const { method, path, headers, body, query: sent } = api.arrived[0] ?? expect.fail("nothing arrived");
    expect({ method, path, body, sent: Object.fromEntries(sent) }).toEqual({
      method: "POST",
      path: "/clusters/a/api/v1/x",
      body: { a: 1 },
      sent: { limit: "5", labelSelector: "a=b,c!=d", watch: "true" },
    });
    expect(headers).toMatchObject({
      "content-type": "text/x",
      authorization: "Bearer the-secret-token",
      "user-agent": "berth/0.1.0",
    });
    expect(connection).toMatchObject({ server: api.url, namespace: "home" });
  });

  it.each([
    [400, "invalid"],
    [401, "forbidden"],
    [403, "forbidden"],
    [404, "notFound"],
    [409, "conflict"],
    [410, "invalid"],
    [422, "invalid"],
    [429, "invalid"],
  ])("answers %i as %s with reason and message, as it had no effect", async (status, kind) => {
    const api = await fakeApi((_, answer) => {
      answer.setHeader("Retry-After", "2");
      refuse(answer, status, "SomeReason", "some words");
    });
    const answer = await (await connectTo(api)).call(NODES);
    expect(answer).toEqual({
      kind,
      status,
      reason: "SomeReason",
      message: `GET /api/v1/nodes was answered ${status} SomeReason: some words`,
      retryAfter: 2000,
    });
  });

  it.each([500, 502, 503, 504])("answers %i as unknown, because a write may have taken effect", async (status) => {
    const api = await fakeApi((_, answer) => answer.writeHead(status).end("<html>bad gateway"));
    const answer = await (await connectTo(api)).call({ method: "POST", path: "/api/v1/x", body: {} });
    expect(answer).toEqual({
      kind: "unknown",
      cause: "server",
      status,
      message: `POST /api/v1/x was answered ${status}: <html>bad gateway`,
    });
    expect(api.arrived).toHaveLength(1);
  });

  it.each([
    ["text", "no JSON"],
    ["an array", "[]"],
    ["half an object", '{"metadata":'],
  ])("answers a success that holds %s as unknown", async (_, text) => {
    const api = await fakeApi((__, answer) => answer.writeHead(200).end(text));
    const answer = await (await connectTo(api)).call(NODES);
    expect(answer).toMatchObject({ kind: "unknown", cause: "unreadable", status: 200 });
  });

  it("counts any success of a call that asks for the status only, whatever its body is", async () => {
    const bodies = [
      (answer: http.ServerResponse) => answer.end('{"kind":"Status","status":"Success"}'),
      (answer: http.ServerResponse) => answer.end("no JSON"),
      (answer: http.ServerResponse) => answer.write("half", () => answer.destroy()),
      (answer: http.ServerResponse) => answer.write("and nothing more"),
    ];
    const api = await fakeApi((_, answer) => bodies.shift()?.(answer.writeHead(201)));
    const connection = await connectTo(api, { within: 200 });
    for (let i = 0; i < 4; i++) {
      const answer = await connection.call({ method: "POST", path: "/binding", body: {}, statusOnly: true });
      expect(answer).toEqual({ kind: "ok", status: 201, object: {} });
    }
  });

  it("is certain of a refusal by its status, even when the body breaks off", async () => {
    const api = await fakeApi((_, answer) => {
      answer.writeHead(409, { "Content-Length": 1000 }).write("{", () => answer.destroy());
    });
    const answer = await (await connectTo(api)).call({ method: "POST", path: "/x", body: {} });
    expect(answer).toMatchObject({ kind: "conflict", status: 409 });
  });

  it("answers unknown when the server hangs, and the next call is not held up by it", async () => {
    const api = await fakeApi(() => undefined);
    const connection = await connectTo(api, { connections: 1 });
    const answer = await connection.call({ method: "POST", path: "/x", body: {}, within: 50 });
    expect(answer).toEqual({
      kind: "unknown",
      cause: "timeout",
      message: "POST /x had no whole answer within 50 ms",
    });
    api.behave((_, later) => reply(later, 200, {}));
    expect(await connection.call(NODES)).toMatchObject({ kind: "ok" });
    expect(api.arrived.map(({ method }) => method)).toEqual(["POST", "GET"]);
  });

  it("answers unknown when the body stops in the middle", async () => {
    const api = await fakeApi((_, answer) => answer.writeHead(200, { "Content-Length": 100 }).write('{"a":'));
    const answer = await (await connectTo(api)).call({ ...NODES, within: 50 });
    expect(answer).toMatchObject({ kind: "unknown", cause: "timeout" });
  });

  it("never sends a call twice when the connection breaks, also on a connection used before", async () => {
    const api = await fakeApi((_, answer) => reply(answer, 200, {}));
    const connection = await connectTo(api);
    await connection.call(NODES);
    api.behave((_, answer) => answer.destroy());
    const answer = await connection.call({ method: "POST", path: "/binding", body: {} });
    expect(answer).toMatchObject({ kind: "unknown", cause: "reset" });
    expect(api.arrived.filter(({ path }) => path === "/binding")).toHaveLength(1);
  });

  it("never sends a call whose deadline passed while it waited for its turn", async () => {
    const held: http.ServerResponse[] = [];
    const api = await fakeApi((_, answer) => void held.push(answer));
    const connection = await connectTo(api, { connections: 1 });
    const first = connection.call(NODES);
    await expect.poll(() => held.length).toBe(1);
    const late = await connection.call({ method: "POST", path: "/binding", body: {}, within: 30 });
    expect(late).toMatchObject({ kind: "unknown", cause: "timeout" });
    reply(held[0] ?? expect.fail("nothing is held"), 200, {});
    expect(await first).toMatchObject({ kind: "ok" });
    api.behave((_, answer) => reply(answer, 200, {}));
    expect(await connection.call(NODES)).toMatchObject({ kind: "ok" });
    expect(api.arrived.map(({ path }) => path)).not.toContain("/binding");
  });

  it("answers unknown when nobody listens", async () => {
    const path = await kubeconfig("http://127.0.0.1:1");
    const connection = await connect({ kubeconfig: path });
    const answer = await connection.call(NODES);
    expect(answer).toMatchObject({ kind: "unknown", cause: "reset" });
    expect(answer).toHaveProperty("message", expect.stringContaining("ECONNREFUSED"));
    await connection.close();
  });

  it("shares a few connections among many calls instead of opening one for each", async () => {
    const api = await fakeApi((_, answer) => setImmediate(() => reply(answer, 200, {})));
    const connection = await connectTo(api, { connections: 4 });
    const answers = await Promise.all(Array.from({ length: 200 }, () => connection.call(NODES)));
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(["ok"]));
    expect(api.connections()).toBe(4);
  });

  it("lets watches and calls each have their own connections", async () => {
    const api = await fakeApi((arrived, answer) => {
      if (arrived.path === "/watch") answer.writeHead(200).write("{}\n");
      else reply(answer, 200, {});
    });
    const connection = await connectTo(api, { connections: 1 });
    const end = new AbortController();
    const watches = await Promise.all([1, 2, 3].map(() => connection.watch({ path: "/watch", signal: end.signal })));
    expect(watches.map(({ kind }) => kind)).toEqual(["open", "open", "open"]);
    expect(await connection.call(NODES)).toMatchObject({ kind: "ok" });
    const hanging = connection.call({ method: "GET", path: "/watch", within: 300 });
    const another = await connection.watch({ path: "/watch", signal: end.signal });
    expect(another.kind).toBe("open");
    expect(await hanging).toMatchObject({ cause: "timeout" });
  });

  it("ends calls and watches when it is closed, and sends no further ones", async () => {
    const api = await fakeApi((arrived, answer) => {
      if (arrived.path === "/watch") answer.writeHead(200).write("{}\n");
    });
    const connection = await connectTo(api);
    const watch = await connection.watch({ path: "/watch", signal: new AbortController().signal });
    const call = connection.call(NODES);
    await expect.poll(() => api.arrived.length).toBe(2);
    await connection.close();
    expect(await call).toMatchObject({ kind: "unknown", cause: "closed" });
    expect(await connection.call(NODES)).toMatchObject({ kind: "unknown", cause: "closed" });
    const read = async (): Promise<void> => {
      for await (const _ of watch.kind === "open" ? watch.body : []);
    };
    await expect(read()).rejects.toThrow();
    expect(api.arrived).toHaveLength(2);
  });

  it("tells why a watch was refused, and gives up one whose answer does not begin", async () => {
    const api = await fakeApi((_, answer) => refuse(answer, 410, "Expired", "too old resource version"));
    const connection = await connectTo(api);
    const { signal } = new AbortController();
    expect(await connection.watch({ path: "/watch", signal })).toMatchObject({ kind: "invalid", status: 410 });
    api.behave(() => undefined);
    expect(await connection.watch({ path: "/watch", signal, within: 50 })).toMatchObject({ cause: "timeout" });
  });

  it("leaves no deadline running behind a call that is over, however it ended", async () => {
    const deadlines = (): number => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
    const api = await fakeApi((_, answer) => reply(answer, 200, {}));
    const connection = await connectTo(api, { within: 100_000 });
    const before = deadlines();
    const endings: Behaviour[] = [
      (_, answer) => reply(answer, 201, {}),
      (_, answer) => answer.writeHead(204).end(),
      (_, answer) => refuse(answer, 404, "NotFound"),
      (_, answer) => answer.writeHead(500).write("half", () => answer.destroy()),
      (_, answer) => answer.destroy(),
    ];
    for (const ending of endings) {
      api.behave(ending);
      await connection.call(NODES);
      await connection.call({ ...NODES, statusOnly: true });
    }
    await expect.poll(deadlines).toBeLessThanOrEqual(before);
  });
});
