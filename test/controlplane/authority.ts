import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import * as x509 from "@peculiar/x509";

/** A certificate and its private key, PEM. */
export interface Certificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/** What a certificate is for. Good for servers and clients alike. */
export interface CertificateRequest {
  /** Common name: a client's user name in Kubernetes. */
  readonly name: string;
  /** A client's groups in Kubernetes. */
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses of a server. Default `localhost` and `127.0.0.1`. */
  readonly hosts?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** A certificate authority for one test. */
export interface Authority {
  readonly caPem: string;
  issue(request: CertificateRequest): Promise<Certificate>;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const day = 86_400_000;

/** Makes a certificate authority that lives in memory. */
export async function createAuthority(name = "test CA"): Promise<Authority> {
  const keys = await newKeys();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + 30 * day),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { caPem: ca.toString("pem"), issue: (request) => issue(ca, keys.privateKey, request) };
}

async function issue(
  ca: x509.X509Certificate,
  caKey: webcrypto.CryptoKey,
  request: CertificateRequest,
): Promise<Certificate> {
  const keys = await newKeys();
  const hosts = request.hosts ?? ["localhost", "127.0.0.1"];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [request.name] }, ...(request.organizations ?? []).map((name) => ({ O: [name] }))],
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKey,
    signingAlgorithm: algorithm,
    notBefore: request.notBefore ?? new Date(Date.now() - day),
    notAfter: request.notAfter ?? new Date(Date.now() + 30 * day),
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: isIP(value) ? ("ip" as const) : ("dns" as const), value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(ca),
    ],
  });
  return { certPem: certificate.toString("pem"), keyPem: await privatePem(keys.privateKey) };
}

/** A fresh private and public key, PEM, for signing service-account tokens. */
export async function createKeyPair(): Promise<{ readonly privatePem: string; readonly publicPem: string }> {
  const keys = await newKeys();
  const spki = await webcrypto.subtle.exportKey("spki", keys.publicKey);
  return { privatePem: await privatePem(keys.privateKey), publicPem: x509.PemConverter.encode(spki, "PUBLIC KEY") };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}
