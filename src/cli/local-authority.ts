import type { X509Certificate } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { endsAfter, folderProblem, hasNames, isIssuedBy, systemCode } from "./certificate-checks.ts";
import { createAuthority, issueServer, normalName } from "./certificates.ts";
import { type Pair, PairError, type PairFiles, readPair, replaceFile, writePair } from "./key-pair.ts";

/** A certificate authority and a server certificate of one's own machine, as files. */
export interface LocalAuthority {
  /** The authority's certificate. */
  readonly caFile: string;
  /** The same as base64 of its PEM text: what `tlsConfig.caData` in kube-scheduler's configuration takes. */
  readonly caData: string;
  readonly certFile: string;
  /** Mode 0600. */
  readonly keyFile: string;
  /** SHA-256 of the server certificate, as openssl prints it: `AB:CD:…`. The same until it is renewed. */
  readonly fingerprint: string;
  /** True when this call made the server certificate. */
  readonly created: boolean;
}

/** Certificates that cannot be kept: damaged files of the authority, or a folder that cannot be written. */
export class LocalAuthorityError extends Error {
  override readonly name = "LocalAuthorityError";
}

const DAY = 24 * 60 * 60 * 1000;
const AUTHORITY_DAYS = 3650;
const SERVER_DAYS = 365;

/** What ends within this time is renewed. */
const RENEWAL = 7 * DAY;

/**
 * Keeps an authority (`ca.crt`, `ca.key`) and a server certificate (`server.crt`, `server.key`) in a folder. They are
 * made once and kept, so that a kube-scheduler that trusts the authority goes on trusting it. The server certificate
 * is made anew when it ends within a week, when other names are wanted or when its files are damaged; the authority
 * only when it ends within a week.
 *
 * @param folder made when missing, mode 0700, with a `.gitignore` that keeps the keys out of version control
 * @param names DNS names and IP addresses by which the server is called
 * @param now the clock of tests
 * @throws LocalAuthorityError when the authority's files are damaged or the folder cannot be used
 * @throws RangeError when a name is neither a DNS name nor an IP address
 */
export async function localAuthority(
  folder: string,
  names: readonly string[],
  now: Date = new Date(),
): Promise<LocalAuthority> {
  const wish: Wish = { names: [...new Set(names.map(normalName))], now };
  const caFiles = { certificate: join(folder, "ca.crt"), key: join(folder, "ca.key") };
  const files = { certificate: join(folder, "server.crt"), key: join(folder, "server.key") };
  try {
    const authority = (await keptAuthority(caFiles, now)) ?? (await newAuthority(folder, caFiles, now));
    const kept = await keptServer(files, authority, wish);
    const server = kept ?? (await newServer(files, authority, wish));
    return {
      caFile: caFiles.certificate,
      caData: Buffer.from(authority.certificate).toString("base64"),
      certFile: files.certificate,
      keyFile: files.key,
      fingerprint: server.parsed.fingerprint256,
      created: kept === undefined,
    };
  } catch (error) {
    throw explained(error, folder);
  }
}

interface Wish {
  readonly names: readonly string[];
  readonly now: Date;
}

async function keptAuthority(files: PairFiles, now: Date): Promise<Pair | undefined> {
  const pair = await readPair(files);
  if (!pair) return undefined;
  if (!pair.parsed.ca) throw new PairError(`${files.certificate} is not the certificate of an authority`);
  return isFresh(pair.parsed, now) ? pair : undefined;
}

async function newAuthority(folder: string, files: PairFiles, now: Date): Promise<Pair> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceFile(join(folder, ".gitignore"), "*\n", 0o644);
  return writePair(files, await createAuthority({ name: "Berth local authority", days: AUTHORITY_DAYS, now }));
}

/** A server certificate costs nothing to replace, since clients trust its authority: whatever is wrong with it, a new one. */
async function keptServer(files: PairFiles, authority: Pair, wish: Wish): Promise<Pair | undefined> {
  try {
    const pair = await readPair(files);
    return pair && isFresh(pair.parsed, wish.now) && isIssuedBy(pair, authority) && hasNames(pair, wish.names)
      ? pair
      : undefined;
  } catch (error) {
    if (systemCode(error) !== undefined) throw error;
    return undefined;
  }
}

async function newServer(files: PairFiles, authority: Pair, wish: Wish): Promise<Pair> {
  return writePair(files, await issueServer(authority, { ...wish, days: SERVER_DAYS }));
}

function isFresh(certificate: X509Certificate, now: Date): boolean {
  return endsAfter(certificate, RENEWAL, now);
}

function explained(error: unknown, folder: string): unknown {
  if (error instanceof PairError) {
    return new LocalAuthorityError(
      `${error.message}: put the file back, or remove ${folder} for a new authority, ` +
        "whose caData every kube-scheduler that trusts the old one then needs",
    );
  }
  const problem = folderProblem(error, folder);
  return problem === undefined ? error : new LocalAuthorityError(problem);
}
