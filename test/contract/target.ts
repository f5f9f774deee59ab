/** A client certificate: one that an accepted authority issued to cluster-a, or one of an authority nobody knows. */
export type Certificate = "cluster-a" | "stranger";

/** One request. POST when there is a body, GET when there is none, unless `method` says otherwise. */
export interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** What the client presents in the TLS handshake, or what the platform says about it. */
  readonly certificate?: Certificate;
  /** Set for a client that is not on this machine. */
  readonly from?: "elsewhere";
}

/** One connection, which carries one request after the other. */
export interface Connection {
  fetch(path: string, call?: Call): Promise<Response>;
  /** How many connections it took so far: more than one when the server closed one. */
  readonly opened: number;
  close(): void;
}

/** The function on some runtime. */
export interface Target {
  /** Where paths are resolved against. */
  readonly base: string;
  fetch(path: string, call?: Call): Promise<Response>;
  /** Everything that was logged so far, a line an entry. */
  logs(): string;
  /** A connection of its own, where the runtime has real sockets. */
  connect?(): Connection;
  stop(): Promise<void>;
}

/** What a runtime can do that others cannot. */
export interface Abilities {
  /** It has connections that outlive a request. */
  readonly connections: boolean;
  /** Requests can be made to come from another machine. */
  readonly distance: boolean;
  /** False: no request ever comes from the machine that it runs on. */
  readonly local?: false;
  /** False: the platform reads a whole body before it calls the function. */
  readonly streams?: false;
  /** The most bytes of a body, where the platform allows less than 32 MiB. */
  readonly limit?: number;
}

/** What is different from one start to another. */
export interface Settings {
  readonly secrets: Readonly<Record<string, string>>;
  /** `BERTH_OPEN`. */
  readonly open?: "loopback";
}

/** Starts the function with the policy of this folder. */
export type Start = (settings: Settings) => Promise<Target>;

/** The method of a call. */
export function methodOf({ method, body }: Call): string {
  return method ?? (body === undefined ? "GET" : "POST");
}

/** A call as Fetch has it. */
export function requestInit(call: Call): RequestInit {
  const { headers, body } = call;
  return {
    method: methodOf(call),
    ...(headers && { headers }),
    ...(body !== undefined && { body }),
    ...(body instanceof ReadableStream && { duplex: "half" }),
  } as RequestInit;
}
