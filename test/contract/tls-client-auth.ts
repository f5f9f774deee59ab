import type { Certificate } from "./target.ts";

/**
 * What Cloudflare says about a client's certificate in `request.cf.tlsClientAuth`. Source: Cloudflare's runtime API
 * reference, IncomingRequestCfProperties; its client certificate variables for the values.
 */
export function tlsClientAuth(certificate: Certificate | "revoked"): Readonly<Record<string, string>> {
  return {
    certPresented: "1",
    certVerified: certificate === "stranger" ? "FAILED:unable to verify the first certificate" : "SUCCESS",
    certRevoked: certificate === "revoked" ? "1" : "0",
    certSubjectDNRFC2253: "CN=scheduler.cluster-a.example",
    certFingerprintSHA256: "0".repeat(64),
  };
}
