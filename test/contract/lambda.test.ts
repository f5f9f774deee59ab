import { describe, expect, it } from "vitest";
import compiled from "#policy" with { type: "json" };
import { createLambdaHandler, LAMBDA_BODY_LIMIT, type LambdaHandler } from "../../src/adapters/lambda-handler.ts";
import { registry } from "../../src/policy/registry.ts";
import { contractSuite } from "./contract.ts";
import { handshake } from "./node-tls.ts";
import { SECRETS } from "./secrets.ts";
import { type Call, methodOf, type Settings, type Target } from "./target.ts";

type LambdaEvent = Parameters<LambdaHandler>[0];
type LambdaResult = Awaited<ReturnType<LambdaHandler>>;

const BASE = "https://abc.lambda-url.eu-central-1.on.aws";

/**
 * A call as a function URL and an HTTP API hand it over (payload format 2.0): headers in lower case, bodies that are
 * no text in base64, a client certificate only when the gateway has verified it.
 */
async function eventOf(path: string, call: Call): Promise<LambdaEvent> {
  const url = new URL(path, BASE);
  const bytes = call.body === undefined ? undefined : Buffer.from(await new Response(call.body).arrayBuffer());
  const headers = Object.entries(call.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const pem = call.certificate === "cluster-a" ? String(handshake(call).cert) : undefined;
  const isText = headers.some(([name, value]) => name === "content-type" && value.startsWith("application/json"));
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers: {
      ...Object.fromEntries(headers),
      host: url.host,
      ...(bytes && { "content-length": String(bytes.length) }),
    },
    body: bytes?.toString(isText ? "utf8" : "base64") ?? null,
    isBase64Encoded: bytes !== undefined && !isText,
    requestContext: {
      accountId: "anonymous",
      apiId: "abc",
      ...(pem !== undefined && { authentication: { clientCert: { clientCertPem: pem } } }),
      domainName: url.host,
      domainPrefix: "abc",
      http: {
        method: methodOf(call),
        path: url.pathname,
        protocol: "HTTP/1.1",
        sourceIp: "192.0.2.1",
        userAgent: "Go",
      },
      requestId: "1",
      routeKey: "$default",
      stage: "$default",
      time: "01/Dec/2026:00:00:00 +0000",
      timeEpoch: 0,
    },
  } as unknown as LambdaEvent;
}

function responseOf({ statusCode, headers, body, isBase64Encoded }: LambdaResult): Response {
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  const empty = statusCode === 204 || statusCode === 304;
  return new Response(empty ? null : bytes, { status: statusCode, headers: headers as Record<string, string> });
}

async function start({ secrets, open }: Settings): Promise<Target> {
  const lines: string[] = [];
  const env = { ...secrets, ...(open && { BERTH_OPEN: open }) };
  const handler = await createLambdaHandler(compiled, registry, { env, write: (line) => lines.push(line) });
  return {
    base: BASE,
    fetch: async (path, call = {}) => responseOf(await handler(await eventOf(path, call))),
    logs: () => lines.join("\n"),
    stop: async () => undefined,
  };
}

contractSuite("on AWS Lambda", start, {
  connections: false,
  distance: true,
  local: false,
  streams: false,
  limit: LAMBDA_BODY_LIMIT,
});

describe("the function on AWS Lambda", () => {
  const ask = async (handler: LambdaHandler, bytes: number) =>
    responseOf(
      await handler(
        await eventOf("/default/filter", {
          headers: { Authorization: `Bearer ${SECRETS.CLUSTER_A_TOKEN}`, "Content-Type": "application/json" },
          body: " ".repeat(bytes),
        }),
      ),
    );

  it("lets BERTH_BODY_LIMIT lower its limit, and not raise it", async () => {
    const limited = (BERTH_BODY_LIMIT: string) =>
      createLambdaHandler(compiled, registry, { env: { ...SECRETS, BERTH_BODY_LIMIT }, write: () => undefined });
    const low = await limited("1000");
    expect((await ask(low, 1001)).status).toBe(413);
    const high = await limited("99999999");
    expect((await ask(high, LAMBDA_BODY_LIMIT + 1)).status).toBe(413);
  });
});
