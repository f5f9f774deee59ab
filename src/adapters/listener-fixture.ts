import { mkdtemp, rm, writeFile } from "node:fs/promises";
import * as http2 from "node:http2";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as tls from "node:tls";
import { afterEach } from "vitest";
import { createAuthority, type Issued, issueServer } from "../cli/certificates.ts";
import type { Log } from "../extender/log.ts";
import { type Listener, type ListenerEnv, type ListenOptions, listen, type TlsFiles } from "./listener.ts";

/** One authority for the tests of a file, and a server certificate under it. */
export const authority: Issued = await createAuthority({ name: "Listener tests", days: 2 });
export const server: Issued = await issueServer(authority, { names: ["localhost", "127.0.0.1"], days: 30 });

type Fetch = (request: Request, env: ListenerEnv) => Response | Promise<Response>;
type Given = Partial<Omit<ListenOptions, "app">> & { readonly fetch?: Fetch };

/** A line that the server logged. */
export interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** What a test opened, closed after it in reverse. */
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** Answers with the number of bytes of the body, once it is there. */
export const countBytes: Fetch = async (request) => new Response(`${(await request.arrayBuffer()).byteLength}`);

/** A listener on a free port, stopped after the test, with the lines that it logged. */
export async function start(given: Given = {}): Promise<Listener & { readonly lines: Line[] }> {
  const { fetch = countBytes, ...options } = given;
  const lines: Line[] = [];
  const log: Log = (level, message, fields) => void lines.push({ level, message, ...(fields && { fields }) });
  const listener = await listen({ app: { fetch }, host: "127.0.0.1", port: 0, log, ...options });
  opened.push(() => listener.stop(0));
  return { ...listener, lines };
}

/** A folder with `tls.crt` and `tls.key`, and `clients.crt` where an authority for clients is given. */
export async function tlsFiles(pair: Issued = server, clients?: string): Promise<TlsFiles & { folder: string }> {
  const folder = await temporaryFolder();
  const files = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
  await writeFile(files.certFile, pair.certificate);
  await writeFile(files.keyFile, pair.key);
  if (clients === undefined) return { ...files, folder };
  const clientCaFile = join(folder, "clients.crt");
  await writeFile(clientCaFile, clients);
  return { ...files, clientCaFile, folder };
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "berth-listener-"));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** An HTTP/1.1 answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A bare connection that speaks what a test makes it speak. */
export interface Wire {
  readonly socket: net.Socket;
  send(data: string | Uint8Array): void;
  /** The next answer; rejects when the connection ends before it is whole. */
  answer(): Promise<Answer>;
  /** Resolves when the other side has ended the connection. */
  readonly ended: Promise<void>;
}

/** Connects in clear text, or over TLS as a client that trusts the tests' authority. */
export async function wire(port: number, secure?: tls.ConnectionOptions): Promise<Wire> {
  const to = { host: "127.0.0.1", port };
  const socket = secure ? tls.connect({ ...to, ca: authority.certificate, ...secure }) : net.connect(to);
  opened.push(() => socket.destroy());
  const received: Buffer[] = [];
  const waiting: (() => void)[] = [];
  const wake = () => waiting.splice(0).forEach((go) => void go());
  let over = false;
  const ended = new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) {
      socket.on(event, () => {
        over = true;
        wake();
        resolve();
      });
    }
  });
  socket.on("data", (chunk: Buffer) => {
    received.push(chunk);
    wake();
  });
  const answer = async (): Promise<Answer> => {
    for (;;) {
      const all = Buffer.concat(received.splice(0));
      const parsed = parseAnswer(all);
      received.push(parsed ? all.subarray(parsed.length) : all);
      if (parsed) return parsed.answer;
      if (over) throw new Error(`the connection ended after ${JSON.stringify(all.toString())}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  await new Promise<void>((resolve, reject) => {
    socket.once(secure ? "secureConnect" : "connect", resolve);
    socket.once("error", reject);
  });
  return { socket, send: (data) => void socket.write(data), answer, ended };
}

/** Undefined while the answer is not whole. Only answers with a Content-Length. */
function parseAnswer(bytes: Buffer): { readonly answer: Answer; readonly length: number } | undefined {
  const head = bytes.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const [line = "", ...rest] = bytes.subarray(0, head).toString().split("\r\n");
  const headers = Object.fromEntries(
    rest.map((header) => [header.split(":", 1)[0]?.toLowerCase(), header.slice(header.indexOf(":") + 1).trim()]),
  );
  const length = head + 4 + Number(headers["content-length"] ?? 0);
  if (bytes.length < length) return undefined;
  const body = bytes.subarray(head + 4, length).toString();
  return { answer: { status: Number(line.split(" ")[1]), headers, body }, length };
}

/** A POST over HTTP/1.1; with `length` the headers alone, for a body that the test sends itself. */
export function post(body: string, length: number = Buffer.byteLength(body)): string {
  return `POST /p/filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

/** An HTTP/2 session, closed after the test. */
export async function session(
  url: string,
  options: http2.SecureClientSessionOptions = {},
): Promise<http2.ClientHttp2Session> {
  const client = http2.connect(url, { ca: authority.certificate, ...options });
  opened.push(() => client.destroy());
  client.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    client.once("remoteSettings", () => resolve());
    client.once("error", reject);
  });
  return client;
}

/** An answer over HTTP/2 and how its stream ended. */
export interface StreamAnswer {
  readonly status: number | undefined;
  readonly body: string;
  readonly reset: number;
}

/** What comes back on a stream, once it is closed. */
export async function streamAnswer(stream: http2.ClientHttp2Stream): Promise<StreamAnswer> {
  let status: number | undefined;
  let body = "";
  stream.on("response", (headers) => {
    status = headers[":status"];
  });
  stream.on("data", (chunk) => {
    body += chunk;
  });
  stream.on("error", () => undefined);
  await new Promise<void>((resolve) => stream.once("close", resolve));
  return { status, body, reset: stream.rstCode };
}

/** Sends one request over HTTP/2. */
export function ask(client: http2.ClientHttp2Session, body = ""): Promise<StreamAnswer> {
  const stream = client.request({ ":method": "POST", ":path": "/p/filter" });
  stream.end(body);
  return streamAnswer(stream);
}
