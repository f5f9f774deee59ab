import { isIP } from "node:net";

/** What an extender's urlPrefix says of where it leads. */
export interface Address {
  readonly url: URL;
  readonly https: boolean;
  /** Without brackets. */
  readonly host: string;
  readonly isIp: boolean;
  /** The same machine, or the same pod. */
  readonly loopback: boolean;
  /** A name that only the cluster's own DNS knows, such as `binder.berth-system.svc`. */
  readonly clusterName: boolean;
  /** Where the URL holds what looks like a secret: in front of the host, or in a part of the path. */
  readonly secret: "userinfo" | "path" | undefined;
  /** The URL for people, without anything that could be a secret. */
  readonly shown: string;
}

/** Reads a urlPrefix. Answers undefined for what is no http or https URL. */
export function readAddress(urlPrefix: string): Address | undefined {
  if (!URL.canParse(urlPrefix)) return undefined;
  const url = new URL(urlPrefix);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const inPath = url.pathname.split("/").some(looksSecret);
  return {
    url,
    https: url.protocol === "https:",
    host,
    isIp: isIP(host) !== 0,
    loopback: host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127.")),
    clusterName: isClusterName(host),
    secret: url.username !== "" || url.password !== "" ? "userinfo" : inPath || url.search !== "" ? "path" : undefined,
    shown: `${url.protocol}//${url.host}${shownPath(url.pathname)}`,
  };
}

/** Names of a Service: with `.svc`, or the name of a namespace where others have a domain. */
function isClusterName(host: string): boolean {
  const labels = host.split(".");
  if (isIP(host) !== 0 || host === "localhost") return false;
  const second = labels[1] ?? "";
  return labels[2] === "svc" || (labels.length === 2 && /(^default$|-system$|^kube-)/.test(second));
}

/**
 * Parts of a path that nobody writes by hand: 16 characters or more that mix digits and letters, or cases, or that name
 * themselves. Shorter ones cannot be secrets of Berth, which demands 16.
 */
function looksSecret(part: string): boolean {
  if (part.length < 16) return false;
  const digits = part.replace(/\D/g, "").length;
  const mixedCase = /[a-z]/.test(part) && /[A-Z]/.test(part);
  return (digits >= 2 && /[a-z]/i.test(part)) || mixedCase || /secret|token|passw/i.test(part) || /^\d+$/.test(part);
}

/** Of several parts only the last, which names the profile, is certain to be no secret of Berth's. */
function shownPath(path: string): string {
  const parts = path.split("/").filter((part) => part !== "");
  const last = parts.at(-1);
  if (last === undefined) return "";
  const safe = looksSecret(last) ? "…" : last;
  return parts.length > 1 ? `/…/${safe}` : `/${safe}`;
}
