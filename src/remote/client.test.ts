import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createAuthority, issueServer } from "../cli/certificates.ts";
import { createFunctionClient, type FunctionClient, type FunctionOptions } from "./client.ts";
import { afterTest, fakeFunction, saying } from "./function-fixture.ts";

const authority = await createAuthority({ name: "Function tests", days: 2 });
const stranger = await createAuthority({ name: "Somebody else", days: 2 });
const server = await issueServer(authority, { names: ["127.0.0.1"], days: 2 });
const tls = { key: server.key, cert: server.certificate };
const SECRET = "a-token-that-must-not-be-seen";

function client(url: string, more: Partial<FunctionOptions> = {}): FunctionClient {
  const made = createFunctionClient({ url, token: () => SECRET, versionKey: "cluster-a", ...more });
  afterTest(made.close);
  return made;
}

const get = { path: "/default", timeoutMs: 5_000, maxBytes: 10_000 };

describe("asking a function", () => {
  it("sends the token and the cluster's key over verified TLS, and keeps its connections", async () => {
    const there = await fakeFunction(saying(200, "{}"), tls);
    const { ask } = client(`${there.url}/berth/`, { caPem: authority.certificate });
    for (let time = 0; time < 10; time++) expect(await ask(get)).toMatchObject({ status: 200, bytes: 2 });
    expect(there.asked[2]).toMatchObject({
      path: "/berth/default",
      headers: { authorization: `Bearer ${SECRET}`, "cloudflare-workers-version-key": "cluster-a" },
    });
    // A question that comes while the last answer is being put away opens a second one.
    expect(there.connections()).toBeLessThanOrEqual(2);
  });

  it.each([
    ["signed by nobody that is trusted", stranger.certificate, "BERTH_FUNCTION_CA has to name the authority"],
    ["that only the system's authorities are asked about", undefined, "its certificate is not accepted"],
  ])("sends nothing to a server with a certificate %s", async (_, caPem, words) => {
    const there = await fakeFunction(saying(200), tls);
    const asked = client(there.url, caPem === undefined ? {} : { caPem }).ask(get);
    await expect(asked).rejects.toThrow(words);
    expect(there.asked).toEqual([]);
  });

  it("sends nothing to a server whose certificate is for another name", async () => {
    const other = await issueServer(authority, { names: ["other.example"], days: 2 });
    const there = await fakeFunction(saying(200), { key: other.key, cert: other.certificate });
    const asked = client(there.url, { caPem: authority.certificate }).ask(get);
    await expect(asked).rejects.toThrow("its certificate is for another name");
    expect(there.asked).toEqual([]);
  });

  it("does not carry its token to where a redirect points", async () => {
    const elsewhere = await fakeFunction(saying(200));
    const there = await fakeFunction((_, response) => {
      response.writeHead(302, { Location: elsewhere.url }).end();
    });
    expect((await client(there.url).ask(get)).status).toBe(302);
    expect(elsewhere.asked).toEqual([]);
  });

  it("reads the token anew for every request", async () => {
    const there = await fakeFunction(saying(200));
    let token = "first";
    const { ask } = client(there.url, { token: () => token });
    await ask(get);
    token = "second";
    await ask(get);
    expect(there.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer first", "Bearer second"]);
  });

  it("unpacks what came with gzip, and says how little came over the network", async () => {
    const text = "berth ".repeat(1_000);
    const there = await fakeFunction((_, response) => {
      response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync(text));
    });
    const { body, bytes } = await client(there.url).ask(get);
    expect(new TextDecoder().decode(body)).toBe(text);
    expect(bytes).toBeLessThan(100);
  });

  it("takes no more than it was told to, be it packed or not", async () => {
    const there = await fakeFunction(saying(200, "x".repeat(20_000)));
    const { ask } = client(there.url);
    await expect(ask(get)).rejects.toThrow("the function's answer is larger than 10000 bytes");
    there.behave((_, response) => {
      response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync("x".repeat(20_000)));
    });
    await expect(ask(get)).rejects.toThrow("the function's answer is larger than 10000 bytes");
  });

  it("gives up after its time, also when the answer stops half-way", async () => {
    const there = await fakeFunction(() => undefined);
    const { ask } = client(there.url);
    await expect(ask({ ...get, timeoutMs: 50 })).rejects.toThrow("gave no whole answer within 0.05 s");
    there.behave((_, response) => {
      response.writeHead(200);
      response.write("{");
    });
    await expect(ask({ ...get, timeoutMs: 200 })).rejects.toThrow("gave no whole answer within 0.2 s");
  });

  it("says in words why there is no answer, and never the token", async () => {
    const there = await fakeFunction((request) => request.socket.destroy());
    const { ask } = client(there.url);
    const failures: string[] = [];
    const fail = async (): Promise<void> => {
      await ask(get).catch((error: Error) => failures.push(`${error.name}: ${error.message} ${error.cause ?? ""}`));
    };
    await fail();
    await there.stop();
    await fail();
    expect(failures).toEqual([
      expect.stringMatching(
        /^FunctionError: the function at http:\/\/127\.0\.0\.1:\d+ cannot be reached: the connection/,
      ),
      expect.stringMatching(/cannot be reached: nothing listens there/),
    ]);
    const strange = client(there.url, { token: () => "two\nlines" });
    await expect(strange.ask(get)).rejects.toThrow("the token has characters that no header carries");
    expect(failures.join()).not.toContain(SECRET);
  });
});
