import { describe, expect, it } from "vitest";
import type { CallerConfiguration } from "../policy/configuration.ts";
import { type CallerOptions, type Peer, prepareCallers } from "./callers.ts";

const PATH = "a-path-secret-of-good-length";
const NEXT = "the-secret-that-replaces-it";
const BASIC = "scheduler:a-password-of-good-length";
const BEARER = "a-bearer-token-of-good-length";
const secrets: Record<string, string> = {
  PATH,
  NEXT,
  BASIC,
  BEARER,
  SHORT: "short",
  EMPTY: "",
  SLASH: "a/b/c/d/e/f/g/h/i",
};
const remote: Peer = { loopback: false };
const local: Peer = { loopback: true };

const clusterA: CallerConfiguration = {
  name: "cluster-a",
  credentials: [{ path: "PATH" }, { path: "NEXT" }, { basic: "BASIC" }, { bearer: "BEARER" }],
  profiles: ["default"],
};
const clusterB: CallerConfiguration = {
  name: "cluster-b",
  credentials: [{ certificate: "kube-scheduler-b" }, { certificate: `sha256:${"ab".repeat(32)}` }],
  profiles: ["batch"],
};

function setUp(callers: readonly CallerConfiguration[], options: Partial<CallerOptions> = {}) {
  const lines: string[] = [];
  const identify = prepareCallers(callers, {
    secret: (name) => secrets[name],
    openOnLoopback: false,
    log: (level, message, fields) => lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`),
    ...options,
  });
  return {
    lines,
    name: async (presented: Parameters<Awaited<typeof identify>>[0]) => (await (await identify)(presented))?.name,
  };
}

const basic = (text: string) => `Basic ${btoa(text)}`;

describe("callers", () => {
  it("are told by a path secret, and by the next one while it replaces the first", async () => {
    const { name } = setUp([clusterA, clusterB]);
    expect(await name({ path: PATH, peer: remote })).toBe("cluster-a");
    expect(await name({ path: NEXT, peer: remote })).toBe("cluster-a");
    expect(await name({ path: `${PATH}x`, peer: remote })).toBeUndefined();
  });

  it("are told by HTTP Basic, as a URL with user and password makes it, and by a bearer token", async () => {
    const { name } = setUp([clusterA]);
    expect(await name({ authorization: basic(BASIC), peer: remote })).toBe("cluster-a");
    expect(await name({ authorization: `bearer ${BEARER}`, peer: remote })).toBe("cluster-a");
    expect(await name({ authorization: basic("scheduler:wrong"), peer: remote })).toBeUndefined();
    expect(await name({ authorization: `Bearer ${PATH}`, peer: remote })).toBeUndefined();
    expect(await name({ authorization: "Basic %%%", peer: remote })).toBeUndefined();
    expect(await name({ peer: remote })).toBeUndefined();
  });

  it("are told by a verified client certificate's name or fingerprint", async () => {
    const { name } = setUp([clusterA, clusterB]);
    const certificate = { names: ["kube-scheduler-b"], sha256: "00" };
    expect(await name({ peer: { loopback: false, certificate } })).toBe("cluster-b");
    expect(await name({ peer: { loopback: false, certificate: { names: [], sha256: "AB".repeat(32) } } })).toBe(
      "cluster-b",
    );
    expect(await name({ peer: { loopback: false, certificate: { names: ["other"], sha256: "00" } } })).toBeUndefined();
  });

  it("with a wrong path secret are nobody, whatever else they present", async () => {
    const { name } = setUp([clusterA, clusterB], { openOnLoopback: true });
    const certificate = { names: ["kube-scheduler-b"], sha256: "00" };
    const presented = { path: "wrong", authorization: `Bearer ${BEARER}`, peer: { loopback: true, certificate } };
    expect(await name(presented)).toBeUndefined();
  });

  it("whose secret is missing, empty, short or unfit for a URL never match, and the log names the secret, not its value", async () => {
    const unusable = ["ABSENT", "EMPTY", "SHORT", "SLASH"].map((secret) => ({ path: secret }));
    const { name, lines } = setUp([{ ...clusterA, credentials: unusable }]);
    for (const path of ["", "short", "undefined", secrets["SLASH"] ?? ""]) {
      expect(await name({ path, peer: remote })).toBeUndefined();
    }
    expect(lines.join("\n")).toMatch(
      /secret ABSENT is not set[\s\S]*EMPTY is not set[\s\S]*SHORT is shorter[\s\S]*SLASH has/,
    );
    expect(lines.join("\n")).not.toContain(secrets["SLASH"]);
  });

  it("by HTTP Basic need a password that cannot be guessed: the user's name does not count", async () => {
    const pairs: Record<string, string> = { WEAK: "kube-scheduler-of-cluster-a:1", NONE: "a-password-without-user" };
    const credentials = Object.keys(pairs).map((name) => ({ basic: name }));
    const { name, lines } = setUp([{ ...clusterA, credentials }], { secret: (each) => pairs[each] });
    for (const pair of Object.values(pairs)) {
      expect(await name({ authorization: basic(pair), peer: remote })).toBeUndefined();
    }
    expect(lines[0]).toContain("secret WEAK has a password of less than 16 characters");
    expect(lines[1]).toContain("secret NONE is not of the form user:password");
  });

  it("whose secret no client could send never match, and the log says what is wrong with it", async () => {
    const odd: Record<string, string> = {
      LINE: `${BEARER}\n`,
      SPACED: "a bearer token with spaces",
      UMLAUT: "b\u00e9arer-token-of-good-length",
    };
    const credentials = Object.keys(odd).map((bearer) => ({ bearer }));
    const { name, lines } = setUp([{ ...clusterA, credentials }], { secret: (each) => odd[each] });
    expect(await name({ authorization: `Bearer ${BEARER}`, peer: remote })).toBeUndefined();
    expect(lines[0]).toContain("secret LINE begins or ends with white space");
    expect(lines[1]).toContain("secret SPACED has characters that no header carries");
    expect(lines[2]).toContain("secret UMLAUT has characters that no header carries");
    for (const secret of Object.values(odd)) expect(lines.join("\n")).not.toContain(secret.trim());
  });

  it("are all refused when none is configured, and the log says why", async () => {
    const { name, lines } = setUp([]);
    expect(await name({ peer: local })).toBeUndefined();
    expect(lines.join("\n")).toContain("no caller has a usable credential: every request is refused");
  });

  it("on loopback are let in without a credential only by the explicit setting, which the log repeats", async () => {
    const { name, lines } = setUp([], { openOnLoopback: true });
    expect(await name({ peer: local })).toBe("loopback");
    expect(await name({ peer: remote })).toBeUndefined();
    expect(lines.join("\n")).toContain("open on loopback");
  });
});
