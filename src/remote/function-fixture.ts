import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import { describeProfile } from "../extender/describe.ts";
import { checkConfiguration } from "../policy/configuration.ts";
import { checkFacts } from "../policy/facts.ts";
import type { Log } from "../policy/log.ts";
import { loadPolicies } from "../policy/profile.ts";
import { registry } from "../policy/registry.ts";
import type { JsonObject } from "../protocol/json.ts";

/** Answers one request. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

/** A server where a function would be, which does what the test says. */
export interface FakeFunction {
  readonly url: string;
  /** The requests so far. */
  readonly asked: { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
  /** Connections so far. */
  connections(): number;
  behave(behaviour: Behaviour): void;
  /** Breaks every connection and listens no more. */
  stop(): Promise<void>;
}

const opened: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** Does something once the test is over. */
export function afterTest(close: () => Promise<unknown> | unknown): void {
  opened.push(close);
}

/** @param tls key and certificate, PEM; without them the server speaks plain HTTP */
export async function fakeFunction(
  behaviour: Behaviour,
  { port = 0, ...tls }: { readonly port?: number; readonly key?: string; readonly cert?: string } = {},
): Promise<FakeFunction> {
  let behave = behaviour;
  let connections = 0;
  const asked: FakeFunction["asked"] = [];
  const listener: Behaviour = (request, response) => {
    asked.push({ path: request.url ?? "", headers: request.headers });
    behave(request, response);
  };
  const server = tls.key === undefined ? createServer(listener) : createSecureServer(tls, listener);
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  afterTest(stop);
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http${tls.key === undefined ? "" : "s"}://127.0.0.1:${bound}`,
    asked,
    connections: () => connections,
    behave: (next) => {
      behave = next;
    },
    stop,
  };
}

/** Answers with a document as the function does: with a tag, and 304 to who has it. */
export function serving(document: JsonObject): Behaviour {
  return (request, response) => {
    const tag = `"${document["profile"]}@${document["version"]}"`;
    response.setHeader("ETag", tag);
    if (request.headers["if-none-match"] === tag) response.writeHead(304).end();
    else response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(document));
  };
}

/** Answers with a status and a text. */
export function saying(status: number, text = ""): Behaviour {
  return (_, response) => void response.writeHead(status).end(text);
}

/** The document of profile `default` with these plugins, as a real function tells it. */
export async function documentOf(plugins: readonly JsonObject[], facts: JsonObject = {}): Promise<JsonObject> {
  const dated = { apiVersion: "berth.dev/v1alpha1" };
  const profiles = [{ name: "default", plugins }];
  const configuration = checkConfiguration(registry)({ ...dated, kind: "PolicyConfiguration", profiles });
  const fleet = checkFacts({ ...dated, kind: "FleetFacts", ...facts });
  if (!("value" in configuration) || !("value" in fleet)) throw new Error(JSON.stringify([configuration, fleet]));
  const { policies } = await loadPolicies(configuration.value, fleet.value, registry);
  const policy = policies.get("default");
  if (!policy) throw new Error("the profile is missing");
  return JSON.parse(JSON.stringify(describeProfile(policy, fleet.value)));
}

/** A log that a test can read. */
export function logged(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  return {
    lines,
    log: (level, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`),
  };
}
