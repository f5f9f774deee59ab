import { serverNames } from "../certificates.ts";
import type { Pair } from "../key-pair.ts";
import type { Screen } from "../screen.ts";
import type { CertificateSet, Made } from "./folder.ts";

/** What `berth certs` tells of one certificate. */
interface CertificateReport {
  readonly file: string;
  readonly made: boolean;
  /** RFC 3339. */
  readonly ends: string;
  readonly fingerprint: string;
}

/** What `berth certs --output json` prints. No key is in it. */
export interface CertsReport {
  readonly authority: CertificateReport;
  readonly server: CertificateReport & { readonly names: readonly string[] };
  readonly client: CertificateReport & { readonly name: string };
  readonly secrets: string;
  /** The file with every authority to trust. */
  readonly trusted: string;
  readonly caData: string;
}

/** A set of certificates in words that may be shown to anybody. */
export function certsReport(set: CertificateSet, secretsFile: string): CertsReport {
  const of = (what: Made, file: string, { parsed }: Pair): CertificateReport => ({
    file,
    made: set.made.includes(what),
    ends: parsed.validToDate.toISOString(),
    fingerprint: parsed.fingerprint256,
  });
  const { files, authority, server, client } = set;
  return {
    authority: of("authority", files.authority.certificate, authority),
    server: { ...of("server", files.server.certificate, server), names: serverNames(server.certificate) },
    client: { ...of("client", files.client.certificate, client), name: client.parsed.subject.replace(/^CN=/, "") },
    secrets: secretsFile,
    trusted: set.trustedFile,
    caData: set.caData,
  };
}

/** The report as text: what is there, what is new, and what to do with it. */
export function certsText(report: CertsReport, paint: Screen["paint"]): string {
  const { authority, server, client, secrets, trusted, caData } = report;
  const line = (what: string, { file, made, ends }: CertificateReport, of: string) =>
    `${made ? paint("green", "made") : "kept"}  ${what.padEnd(9)}  ${file}, until ${ends.slice(0, 10)}${of}`;
  const key = client.file.replace(/crt$/, "key");
  return [
    line("authority", authority, ""),
    line("server", server, ` for ${server.names.join(", ")}`),
    line("client", client, ` as ${client.name}`),
    "",
    `${paint("bold", "In the cluster:")} the Secrets that infra/ expects (with private keys, mode 0600)`,
    `  kubectl apply -f ${secrets}`,
    `${paint("bold", "Beside kube-scheduler:")} copy ${trusted}, ${client.file} and ${key}`,
    "  to its host; tlsConfig names them as caFile, certFile and keyFile. Or put the authority into the file:",
    `  caData: ${caData}`,
  ].join("\n");
}
