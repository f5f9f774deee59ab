import "reflect-metadata";
import type { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import * as x509 from "@peculiar/x509";

/** A certificate with its private key, both PEM; the key is PKCS#8 and belongs in a file of mode 0600. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

/** How long a certificate is valid: `days` from now. `now` is the clock of tests. */
interface Validity {
  readonly days: number;
  readonly now?: Date;
}

const DAY = 24 * 60 * 60 * 1000;

/** Certificates start in the past, so that a machine whose clock is a little slow accepts them at once. */
const CLOCK_SKEW = 60 * 60 * 1000;

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

x509.cryptoProvider.set(crypto);

/**
 * Makes a certificate authority: self-signed, ECDSA P-256, good for signing server and client certificates only.
 *
 * @param options.name its common name, which people see in error messages
 */
export async function createAuthority(options: Validity & { readonly name: string }): Promise<Issued> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: commonName(options.name),
    keys,
    serialNumber: randomSerial(),
    signingAlgorithm: ALGORITHM,
    ...period(options),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: pem(certificate), key: await keyPem(keys.privateKey) };
}

/**
 * Issues a server certificate for DNS names and IP addresses. Every name is a subject alternative name of its right
 * type: Go looks at nothing else, and an IP address written as a DNS name does not match.
 *
 * @throws RangeError when there is no name, one is neither a DNS name nor an IP address, or the authority's key is foreign
 */
export async function issueServer(
  authority: Issued,
  options: Validity & { readonly names: readonly string[] },
): Promise<Issued> {
  if (options.names.length === 0)
    throw new RangeError("a server certificate needs at least one DNS name or IP address");
  const names = [...new Set(options.names.map(normalName))];
  return issue(authority, {
    ...options,
    name: "Berth server",
    usage: x509.ExtendedKeyUsage.serverAuth,
    alternatives: names.map((value) => ({ type: isIP(value) ? "ip" : "dns", value })),
  });
}

/**
 * Issues a client certificate.
 *
 * @param options.name the common name, by which the server knows the caller
 * @throws RangeError when the name is empty or longer than the 64 characters that X.509 allows
 */
export async function issueClient(authority: Issued, options: Validity & { readonly name: string }): Promise<Issued> {
  const { length } = options.name;
  if (length === 0 || length > 64) throw new RangeError(`the client name has ${length} characters: give it 1 to 64`);
  return issue(authority, { ...options, usage: x509.ExtendedKeyUsage.clientAuth, alternatives: [] });
}

/**
 * A name as certificates spell it: DNS names in lower case, IPv6 addresses in their shortest form, without brackets.
 *
 * @throws RangeError when it is neither a DNS name nor an IP address
 */
export function normalName(name: string): string {
  const bare = name.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) === 6 && !bare.includes("%")) return new URL(`http://[${bare}]`).hostname.slice(1, -1);
  if (isIP(bare) === 4) return bare;
  const label = "[a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?";
  const dns = name.toLowerCase().replace(/\.$/, "");
  const numeric = /(^|\.)\d+$/.test(dns);
  if (dns.length > 253 || numeric || !new RegExp(`^(\\*\\.)?${label}(\\.${label})*$`).test(dns)) {
    throw new RangeError(`"${name}" is neither a DNS name nor an IP address: give host names without scheme and port`);
  }
  return dns;
}

/** The names a certificate is for, as {@link normalName} spells them. */
export function serverNames(certificate: string): string[] {
  const extension = new x509.X509Certificate(certificate).getExtension(x509.SubjectAlternativeNameExtension);
  return (extension?.names.items ?? []).map((name) => normalName(name.value));
}

interface Leaf extends Validity {
  readonly name: string;
  readonly usage: x509.ExtendedKeyUsage;
  readonly alternatives: x509.JsonGeneralNames;
}

async function issue(authority: Issued, leaf: Leaf): Promise<Issued> {
  const issuer = new x509.X509Certificate(authority.certificate);
  const signingKey = await importKey(authority.key);
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: commonName(leaf.name),
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey,
    serialNumber: randomSerial(),
    signingAlgorithm: ALGORITHM,
    ...period(leaf),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([leaf.usage]),
      ...(leaf.alternatives.length > 0 ? [new x509.SubjectAlternativeNameExtension(leaf.alternatives)] : []),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificate: pem(certificate), key: await keyPem(keys.privateKey) };
}

async function importKey(key: string): Promise<webcrypto.CryptoKey> {
  try {
    const der = x509.PemConverter.decodeFirst(key);
    return await crypto.subtle.importKey("pkcs8", der, ALGORITHM, false, ["sign"]);
  } catch {
    throw new RangeError("the authority's key is not an ECDSA P-256 key in PKCS#8 PEM: use one that Berth made");
  }
}

/** A name given as a typed value: as a plain string, quotes and a leading # in it would be interpreted. */
function commonName(name: string): x509.Name {
  return new x509.Name([{ CN: [{ utf8String: name }] }]);
}

function period({ days, now = new Date() }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now.getTime() - CLOCK_SKEW), notAfter: new Date(now.getTime() + days * DAY) };
}

/** 126 random bits: positive, never zero and within the 20 bytes that RFC 5280 allows. */
function randomSerial(): string {
  const bytes = crypto.getRandomValues(Buffer.alloc(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}

function pem(certificate: x509.X509Certificate): string {
  return `${certificate.toString("pem").trim()}\n`;
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = await crypto.subtle.exportKey("pkcs8", key);
  return `${x509.PemConverter.encode(der, x509.PemConverter.PrivateKeyTag).trim()}\n`;
}
