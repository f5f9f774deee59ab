import { checkServerIdentity, type DetailedPeerCertificate } from "node:tls";
import { type Finding, ok, wrong } from "./finding.ts";
import type { Target } from "./target.ts";

/** What a handshake showed. */
export interface Handshake {
  /** `h2`, `http/1.1`, or undefined where the server chose none. */
  readonly protocol: string | undefined;
  /** Such as `TLSv1.3`. */
  readonly version: string | null;
  readonly certificate: DetailedPeerCertificate;
  /** OpenSSL's name of what is wrong with the chain, such as `CERT_HAS_EXPIRED`. */
  readonly chainProblem: string | undefined;
}

const DAY = 24 * 60 * 60 * 1000;

/** A certificate that ends within this time is told. */
const SOON = 14 * DAY;

/**
 * What kube-scheduler's client (Go's crypto/tls) would say to a server's certificate: its validity, its names (the
 * alternative ones alone) and its chain, each as a finding of its own.
 *
 * @param now milliseconds since 1970
 */
export function judgeCertificate(target: Target, handshake: Handshake, now: number): Finding[] {
  const { certificate } = handshake;
  if (target.verification === "nobody") {
    return [
      wrong(
        "TLS",
        "warning",
        "Nobody checks the server's certificate: enableHTTPS without caData or caFile turns that off.",
        "Give the authority as tlsConfig.caData (`berth certs` prints it), or leave enableHTTPS out for a public one.",
      ),
    ];
  }
  const problems = [validity(certificate, now), names(target, certificate), chain(target, handshake)];
  const found = problems.filter((each) => each !== undefined);
  if (found.some(({ status }) => status === "failed")) return found;
  const by = target.verification === "authority" ? "the configuration's authority" : "this machine's own authorities";
  const until = new Date(certificate.valid_to).toISOString().slice(0, 10);
  return [ok("TLS", `${handshake.version}, verified by ${by}, valid until ${until}.`), ...found];
}

function validity(certificate: DetailedPeerCertificate, now: number): Finding | undefined {
  const [from, to] = [Date.parse(certificate.valid_from), Date.parse(certificate.valid_to)];
  if (now > to) {
    return wrong(
      "TLS",
      "failed",
      `The server's certificate ended on ${new Date(to).toISOString()}.`,
      "Renew it (`berth certs --renew` with the same authority) and give it to the server, which reads it by itself.",
    );
  }
  if (now < from) {
    return wrong(
      "TLS",
      "failed",
      `The server's certificate is not valid before ${new Date(from).toISOString()}.`,
      "Set the clock of this machine or of the one that issued the certificate.",
    );
  }
  if (to - now > SOON) return undefined;
  const days = Math.floor((to - now) / DAY);
  return wrong("TLS", "warning", `The server's certificate ends in ${days} days.`, "Renew it: `berth certs`.");
}

function names(target: Target, certificate: DetailedPeerCertificate): Finding | undefined {
  const { host, isIp } = target.address;
  const wanted = target.serverName ?? host;
  // Go looks at no common name.
  const bare = { ...certificate, subject: { ...certificate.subject, CN: "" } };
  if (checkServerIdentity(wanted, bare) === undefined) return undefined;
  const held = (certificate.subjectaltname ?? "").replaceAll("IP Address:", "IP:") || "no name at all";
  if (isIp && target.serverName === undefined) {
    return wrong(
      "TLS",
      "failed",
      `The server's certificate has no IP SAN ${host}, which the URL calls (it has ${held}).`,
      `Issue one with it: \`berth certs --name ${host} …\`; or name one that it has in tlsConfig.serverName.`,
    );
  }
  return wrong(
    "TLS",
    "failed",
    `The server's certificate is not for ${wanted} (it has ${held}).`,
    `Issue one with that name: \`berth certs --name ${wanted} …\`; or call the server by a name that it has.`,
  );
}

/** Validity has a finding of its own. */
function chain(target: Target, { chainProblem, certificate }: Handshake): Finding | undefined {
  if (chainProblem === undefined || /EXPIRED|NOT_YET_VALID|ALTNAME/.test(chainProblem)) return undefined;
  const issuer = String(certificate.issuer?.CN ?? "an authority without a name");
  return wrong(
    "TLS",
    "failed",
    target.verification === "authority"
      ? `The server's certificate was issued by "${issuer}", which is not the authority of the configuration.`
      : `The server's certificate was issued by "${issuer}", which this machine does not know.`,
    "Put the authority that issued it into tlsConfig.caData (`berth certs` prints it) and set enableHTTPS, " +
      "or give the server a certificate of an authority that is trusted.",
  );
}
