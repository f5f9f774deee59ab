import type { Connection } from "../cluster/connection.ts";
import { microTime } from "../cluster/micro-time.ts";
import { collectionPath, EVENTS } from "../cluster/resources.ts";
import type { EventDraft } from "./events.ts";

/** Writes events in the background: whoever records one neither waits nor fails. */
export interface EventRecorder {
  record(event: EventDraft): void;
  /** Events that could not be written, by how the API server answered, since the start. */
  state(): { readonly failed: Readonly<Record<string, number>> };
  /** Waits for those under way. */
  stop(): Promise<void>;
}

/** Writes each event once, to events.k8s.io/v1, the API that kube-scheduler writes its own to. */
export function startEventRecorder(o: {
  connection: Connection;
  controller: string;
  instance: string;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}): EventRecorder {
  const failed: Record<string, number> = {};
  const pending = new Set<Promise<void>>();
  return {
    record(event) {
      const namespace = event.regarding.namespace ?? "default";
      const work = o.connection
        .call({
          method: "POST",
          path: collectionPath(EVENTS, namespace),
          body: {
            apiVersion: "events.k8s.io/v1",
            kind: "Event",
            metadata: { name: `${event.regarding.name}.${crypto.randomUUID().slice(0, 13)}`, namespace },
            eventTime: microTime(Date.now()),
            reportingController: o.controller,
            reportingInstance: o.instance,
            ...event,
          } as never,
        })
        .then((answer) => {
          if (answer.kind === "ok") return;
          failed[answer.kind] = (failed[answer.kind] ?? 0) + 1;
          o.warn("An event could not be written", { problem: answer.message });
        })
        .finally(() => pending.delete(work));
      pending.add(work);
    },
    state: () => ({ failed }),
    stop: async () => void (await Promise.all(pending)),
  };
}
