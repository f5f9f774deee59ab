import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { Log } from "../extender/log.ts";
import { ListenError } from "./listen-error.ts";

/** The files a TLS server lives on, all PEM. */
export interface TlsFiles {
  /** The server's certificate, followed by intermediates if there are any. */
  readonly certFile: string;
  /** Its private key, without a passphrase. */
  readonly keyFile: string;
  /** Authorities whose client certificates are accepted; absent: no client certificate is asked for. */
  readonly clientCaFile?: string;
}

/** TLS options that can be given to a server at any time. */
export type Credentials = Pick<SecureContextOptions, "cert" | "key" | "ca" | "minVersion">;

/**
 * Reads and checks the files.
 *
 * @throws ListenError naming the file, what is wrong with it and what to do
 */
export async function readCredentials(files: TlsFiles): Promise<Credentials> {
  const cert = await read(files.certFile, "the server's certificate");
  const key = await read(files.keyFile, "the server's private key");
  const ca = files.clientCaFile === undefined ? undefined : await read(files.clientCaFile, "the clients' authority");
  const certificate = parseCertificates(files.certFile, cert);
  if (!certificate.checkPrivateKey(parseKey(files.keyFile, key))) {
    throw new ListenError(`${files.keyFile} is not the key of the certificate in ${files.certFile}: give a pair`);
  }
  if (ca !== undefined && files.clientCaFile !== undefined) parseCertificates(files.clientCaFile, ca);
  const credentials: Credentials = { cert, key, minVersion: "TLSv1.2", ...(ca !== undefined && { ca }) };
  usable(files.certFile, credentials);
  return credentials;
}

/**
 * Reads the files again and again, and hands over what is new. Polling sees what notifications miss: Kubernetes
 * replaces mounted secrets by swapping a symbolic link somewhere on the way to the file. Files that are broken, or
 * seen in the middle of a change, are logged once and leave the old ones in use.
 *
 * @param everyMs milliseconds between two looks
 * @returns ends the watch
 */
export function watchCredentials(
  files: TlsFiles,
  current: Credentials,
  options: { readonly everyMs: number; readonly log: Log; readonly changed: (credentials: Credentials) => void },
): () => void {
  let used = current;
  let complaint: string | undefined;
  let busy = false;
  const look = async () => {
    try {
      const found = await readCredentials(files);
      complaint = undefined;
      if (found.cert === used.cert && found.key === used.key && found.ca === used.ca) return;
      options.changed(found);
      used = found;
      reportCertificate(options.log, "the TLS certificate was replaced", found);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== complaint) options.log("error", `the old TLS certificate stays in use: ${problem}`);
      complaint = problem;
    }
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    void look().finally(() => {
      busy = false;
    });
  }, options.everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** A certificate that ends within this time, in milliseconds, is a warning. */
const NEAR_END = 7 * 24 * 60 * 60 * 1000;

/** Logs which certificate is used and when it ends; a warning when that is soon. */
export function reportCertificate(log: Log, message: string, credentials: Credentials): void {
  const { validToDate, fingerprint256: fingerprint } = new X509Certificate(String(credentials.cert));
  const fields = { fingerprint, notAfter: validToDate.toISOString() };
  if (validToDate.getTime() - Date.now() > NEAR_END) log("info", message, fields);
  else log("warn", `${message}, which ends soon or has ended: renew it`, fields);
}

async function read(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: "there is no such file",
      EACCES: "this user may not read it",
      EISDIR: "it is a folder",
    };
    throw new ListenError(`${what} cannot be read from ${path}: ${reasons[code] ?? `the system answered ${code}`}`);
  }
}

const BLOCK = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Checks every certificate of a file and returns the first. */
function parseCertificates(path: string, text: string): X509Certificate {
  try {
    const [first] = (text.match(BLOCK) ?? []).map((block) => new X509Certificate(block));
    if (first) return first;
  } catch {
    // Reported below, as a file without any certificate is.
  }
  throw new ListenError(
    `${path} holds no certificate in PEM, or a damaged one: it should begin with -----BEGIN CERTIFICATE-----`,
  );
}

function parseKey(path: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    const locked = /ENCRYPTED/.test(text);
    throw new ListenError(
      locked
        ? `${path} is protected by a passphrase: give a key without one, in a file that only this user can read`
        : `${path} holds no private key in PEM, or a damaged one: it should begin with -----BEGIN PRIVATE KEY-----`,
    );
  }
}

/** OpenSSL has the last word, for example on keys that are too short. */
function usable(path: string, credentials: Credentials): void {
  try {
    createSecureContext(credentials);
  } catch (error) {
    const reason = (error as { readonly reason?: string }).reason ?? (error as Error).message;
    throw new ListenError(`the certificate in ${path} cannot be used for TLS: ${reason}`);
  }
}
