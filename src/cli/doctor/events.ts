import { field, type JsonObject } from "../../protocol/json.ts";

/** A cause that kube-scheduler wrote into events, and how many pods met it. */
export interface ExtenderError {
  readonly cause: string;
  readonly pods: number;
}

/**
 * The errors of extenders among events FailedScheduling, as causes. The messages hold URLs with any secret in them
 * (k8s.io/kubernetes v1.37.2 pkg/scheduler/extender.go, send), so nothing of them is repeated.
 */
export function extenderErrors(events: readonly JsonObject[]): ExtenderError[] {
  const podsByCause = new Map<string, Set<string>>();
  for (const event of events) {
    const cause = causeOf(String(field(event, "message") ?? ""));
    if (cause === undefined) continue;
    const pods = podsByCause.get(cause) ?? new Set<string>();
    podsByCause.set(cause, pods.add(String(field(field(event, "involvedObject"), "uid") ?? "")));
  }
  return [...podsByCause].map(([cause, pods]) => ({ cause, pods: pods.size })).sort((a, b) => b.pods - a.pods);
}

const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/context deadline exceeded|Client\.Timeout/, "an extender that did not answer in time"],
  [/connection refused/, "an extender at a closed port"],
  [/no such host|lookup .* on /, "an extender whose host name is not known"],
  [/x509: certificate has expired/, "an extender whose certificate has ended"],
  [/x509: cannot validate certificate for .* because it doesn't contain any IP SANs/, "a certificate without IP SANs"],
  [/x509: certificate is valid for/, "a certificate for other names"],
  [/x509: certificate signed by unknown authority/, "a certificate of an unknown authority"],
  [/server gave HTTP response to HTTPS client/, "plain HTTP where https was called"],
  [/connection reset|EOF/, "a connection that broke off"],
];

function causeOf(message: string): string | undefined {
  const [, code] = /extender at URL .*?, code (\d{3})/.exec(message) ?? [];
  if (code !== undefined) return `an extender that answered HTTP ${code}`;
  // Only calls to extenders are told in events with a method and a URL.
  if (!/extender|(?:Post|Get) "https?:/i.test(message)) return undefined;
  return CAUSES.find(([pattern]) => pattern.test(message))?.[1];
}
