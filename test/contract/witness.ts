import { SECRETS } from "./secrets.ts";
import type { Call, Connection, Target } from "./target.ts";

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it and fail where it is not what they expect
  readonly json: any;
}

/** A target whose every answer is searched for what nobody may see. */
export interface Witness {
  ask(path: string, call?: Call): Promise<Answer>;
  connect(): WitnessedConnection;
  /** The structured lines logged so far, parsed. */
  lines(): LogLine[];
  /** What was seen in answers and log lines that must never be there. */
  leaks(): string[];
  readonly target: Target;
}

/** As {@link Connection}, with answers that are read and searched. */
export interface WitnessedConnection extends Pick<Connection, "close"> {
  ask(path: string, call?: Call): Promise<Answer>;
  readonly opened: number;
}

/** One line of the log. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

const secrets = Object.values(SECRETS);
const FORBIDDEN: readonly (string | RegExp)[] = [
  ...secrets,
  ...secrets.map((secret) => btoa(secret)),
  // Stack traces, and where this project's files lie.
  /\n\s+at /,
  /\\n\s+at /,
  /\.[cm]?[jt]s:\d/,
];

/** Watches over a target. */
export function witness(target: Target): Witness {
  const seen: string[] = [];
  const read = async (what: string, response: Response): Promise<Answer> => {
    const text = await response.text();
    const head = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    seen.push(...found(`answer ${response.status} to ${what}`, `${head}\n\n${text}`));
    return {
      status: response.status,
      headers: response.headers,
      text,
      get json() {
        return parse(text);
      },
    };
  };
  return {
    target,
    ask: async (path, call) => read(name(path, call), await target.fetch(path, call)),
    connect: () => {
      const connection = target.connect?.();
      if (!connection) throw new Error("this runtime has no connections of its own");
      return {
        ask: async (path, call) => read(name(path, call), await connection.fetch(path, call)),
        get opened() {
          return connection.opened;
        },
        close: () => connection.close(),
      };
    },
    lines: () => target.logs().split("\n").filter(Boolean).map(parse),
    leaks: () => [
      ...seen,
      ...target
        .logs()
        .split("\n")
        .flatMap((line) => found("log line", line)),
    ],
  };
}

/** Paths may hold a secret, and a failing test prints what it found. */
function name(path: string, call: Call | undefined): string {
  return `${call?.method ?? ""} …${path.slice(path.lastIndexOf("/"))}`;
}

function found(what: string, text: string): string[] {
  return FORBIDDEN.filter((each) => (typeof each === "string" ? text.includes(each) : each.test(text))).map(
    (each) => `${what} has ${each}: ${text.slice(0, 300)}`,
  );
}

function parse(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
