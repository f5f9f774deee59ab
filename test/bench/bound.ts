import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request } from "node:https";
import type { ControlPlane } from "../controlplane/controlplane.ts";
import type { Pod } from "../controlplane/objects.ts";

/** Follows which pods of the namespace `default` are bound, whoever was told so: the API server is the one who knows. */
export interface BoundWatch {
  /** When each was seen bound, in the order of that, in milliseconds of `performance.now()`. */
  readonly at: readonly number[];
  /**
   * Settles when so many are bound.
   *
   * @throws {Error} when none more is bound for a minute, with what a pod waits for
   */
  reached(count: number): Promise<void>;
  stop(): void;
}

/** Longer than kube-scheduler keeps a pod back after an error, at most 10 seconds by default. */
const STALLED_MS = 60_000;

/**
 * Begins to follow them. Each bound pod is one line of metadata, once: less work for the machine that is measured than
 * asking kube-scheduler for its metrics again and again, and true where a Binding took effect and its answer was lost.
 *
 * @param hear told the name of each
 */
export async function watchBound(plane: ControlPlane, hear?: (name: string) => void): Promise<BoundWatch> {
  const at: number[] = [];
  const seen = new Set<string>();
  const hearers = new Set<() => void>();
  let asked: ClientRequest;
  let ended = false;
  const take = (line: string): void => {
    const uid = /"uid":"([^"]+)"/.exec(line)?.[1];
    if (uid === undefined || seen.has(uid) || !line.startsWith('{"type":"ADDED"')) return;
    seen.add(uid);
    at.push(performance.now());
    hear?.(/"name":"([^"]+)"/.exec(line)?.[1] ?? "");
    for (const tell of hearers) tell();
  };
  // The API server ends watches that cannot keep up, as on a busy machine. The next begins with all that are bound.
  const open = async (): Promise<void> => {
    asked = ask(plane);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    if (answer.statusCode !== 200) throw new Error(`the watch of bound pods was answered ${answer.statusCode}`);
    onLines(answer, take);
    answer.once("close", () => void (ended || open().catch(() => undefined)));
  };
  await open();
  return {
    at,
    async reached(count) {
      while (at.length < count) {
        const before = at.length;
        await nextChange(hearers);
        if (at.length === before) throw new Error(await stalled(plane, before, count));
      }
    },
    stop() {
      ended = true;
      asked.destroy();
    },
  };
}

function ask(plane: ControlPlane): ClientRequest {
  const url = new URL("/api/v1/namespaces/default/pods?watch=true&fieldSelector=spec.nodeName!%3D", plane.url);
  const headers = {
    Accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    Authorization: `Bearer ${plane.adminToken}`,
  };
  const asked = request(url, { ca: plane.caPem, agent: false, headers });
  // What breaks it is told by its end.
  asked.on("error", () => undefined);
  asked.end();
  return asked;
}

/** Settles at the next change, or when there was none for too long. */
function nextChange(hearers: Set<() => void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, STALLED_MS);
    function done(): void {
      clearTimeout(timer);
      hearers.delete(done);
      resolve();
    }
    hearers.add(done);
  });
}

function onLines(from: IncomingMessage, hear: (line: string) => void): void {
  let rest = "";
  from.on("error", () => undefined);
  from.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) hear(line);
  });
}

async function stalled({ api }: ControlPlane, bound: number, count: number): Promise<string> {
  const waiting = await api.list<Pod>({
    apiVersion: "v1",
    kind: "Pod",
    namespace: "default",
    fieldSelector: "spec.nodeName=",
  });
  const said = JSON.stringify(waiting[0]?.status ?? {});
  const seconds = STALLED_MS / 1000;
  const one = `${waiting.length} wait, such as ${waiting[0]?.metadata.name} with the status ${said}`;
  return `${bound} of ${count} pods are bound, and none more within ${seconds} s: ${one}`;
}
