import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { endsAfter, folderProblem, hasNames, isIssuedBy } from "../certificate-checks.ts";
import { createAuthority, type Issued, issueClient, issueServer, normalName } from "../certificates.ts";
import { CommandError } from "../command-error.ts";
import { type Pair, PairError, type PairFiles, readPair, replaceFile, writePair } from "../key-pair.ts";

/** The names that a binder of infra/ is called by: its Service, and the machine it may be tried on. */
export const DEFAULT_NAMES: readonly string[] = [
  "berth-binder.berth-system.svc",
  "berth-binder.berth-system.svc.cluster.local",
  "localhost",
  "127.0.0.1",
];

/** What certificates are wanted. */
export interface CertificateWish {
  /** DNS names and IP addresses of the server; Go looks at nothing else. */
  readonly names: readonly string[];
  /** Common name of the client certificate, `kube-scheduler` when not given. */
  readonly client?: string;
  /** Days that server and client certificates last, 365 when not given; never longer than the authority. */
  readonly days?: number;
  /** Days that a new authority lasts, 3650 when not given. */
  readonly authorityDays?: number;
  /** True: server and client certificates are made anew although they would last. */
  readonly renew?: boolean;
  /** True: a new authority is made; the old one is kept beside it and trusted on. */
  readonly newAuthority?: boolean;
  /** The clock of tests. */
  readonly now?: Date;
}

/** What an authority signs. */
export type Made = "authority" | "server" | "client";

/** Certificates as files of a folder. */
export interface CertificateSet {
  readonly files: { readonly authority: PairFiles; readonly server: PairFiles; readonly client: PairFiles };
  /** The authorities to trust, PEM: one, or the new and the previous one while they change. */
  readonly trusted: string;
  /** The file that holds them: `ca.crt`, or `trusted.crt` while there are two. */
  readonly trustedFile: string;
  /** The same as kube-scheduler's `tlsConfig.caData` takes it. */
  readonly caData: string;
  readonly authority: Pair;
  readonly server: Pair;
  readonly client: Pair;
  /** What this call made; everything else was there. */
  readonly made: readonly Made[];
}

const DAY = 24 * 60 * 60 * 1000;

/** Server and client certificates that end within this time are made anew. */
const RENEWAL = 30 * DAY;

/**
 * Keeps an authority (`ca.crt`, `ca.key`), a server certificate (`server.crt`, `server.key`) and a client certificate
 * (`client.crt`, `client.key`) in a folder: makes what is missing, renews what ends within 30 days or is for other
 * names, and leaves the rest as it is. An authority is never replaced unless `newAuthority` says so; the old one is
 * then kept as `previous-ca.crt` and trusted beside the new one, until that file is removed. Server and client
 * certificates go on with the previous authority until `renew` says otherwise, so that trust can travel first.
 *
 * @param folder made when missing, mode 0700, with a `.gitignore` that keeps the keys out of version control
 * @throws CommandError when the authority has ended or its files are damaged, or the folder cannot be used
 * @throws RangeError when a name is no DNS name and no IP address, or the client's name does not fit a certificate
 */
export async function makeCertificates(folder: string, wish: CertificateWish): Promise<CertificateSet> {
  const names = [...new Set(wish.names.map(normalName))];
  const now = wish.now ?? new Date();
  try {
    const authority = await theAuthority(folder, wish, now);
    const issuers = [authority.pair, ...(authority.previous ? [authority.previous] : [])];
    const keeper: Keeper = { issuers, now, renew: wish.renew ?? false };
    const days = Math.min(wish.days ?? 365, (authority.pair.parsed.validToDate.getTime() - now.getTime()) / DAY);
    const server = await keep(keeper, pairFiles(folder, "server"), {
      fits: (pair) => hasNames(pair, names),
      issue: (issuer) => issueServer(issuer, { names, days, now }),
    });
    const name = wish.client ?? "kube-scheduler";
    const client = await keep(keeper, pairFiles(folder, "client"), {
      fits: ({ parsed }) => parsed.subject === `CN=${name}`,
      issue: (issuer) => issueClient(issuer, { name, days, now }),
    });
    const trusted = issuers.map(({ certificate }) => certificate).join("");
    const trustedFile = join(folder, authority.previous ? "trusted.crt" : "ca.crt");
    if (authority.previous) await replaceFile(trustedFile, trusted, 0o644);
    return {
      files: {
        authority: pairFiles(folder, "ca"),
        server: pairFiles(folder, "server"),
        client: pairFiles(folder, "client"),
      },
      trusted,
      trustedFile,
      caData: Buffer.from(trusted).toString("base64"),
      authority: authority.pair,
      server: server.pair,
      client: client.pair,
      made: [
        ...(authority.made ? (["authority"] as const) : []),
        ...(server.made ? (["server"] as const) : []),
        ...(client.made ? (["client"] as const) : []),
      ],
    };
  } catch (error) {
    throw explained(error, folder);
  }
}

function pairFiles(folder: string, name: string): PairFiles {
  return { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
}

interface Authority {
  readonly pair: Pair;
  readonly previous: Pair | undefined;
  readonly made: boolean;
}

async function theAuthority(folder: string, wish: CertificateWish, now: Date): Promise<Authority> {
  const files = pairFiles(folder, "ca");
  const kept = await readPair(files);
  if (kept && !kept.parsed.ca) throw new PairError(`${files.certificate} is not the certificate of an authority`);
  if (!kept || wish.newAuthority) return newAuthority(folder, kept, { days: wish.authorityDays ?? 3650, now });
  if (!endsAfter(kept.parsed, 0, now)) throw new CommandError(endedAuthority(files, kept));
  return { pair: kept, previous: unlessEnded(await readPair(pairFiles(folder, "previous-ca")), now), made: false };
}

async function newAuthority(
  folder: string,
  old: Pair | undefined,
  { days, now }: { readonly days: number; readonly now: Date },
): Promise<Authority> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceFile(join(folder, ".gitignore"), "*\n", 0o644);
  // The old one first: at no moment is it lost.
  if (old) await writePair(pairFiles(folder, "previous-ca"), old);
  const issued = await createAuthority({ name: `Berth authority of ${day(now)}`, days, now });
  return { pair: await writePair(pairFiles(folder, "ca"), issued), previous: unlessEnded(old, now), made: true };
}

function unlessEnded(pair: Pair | undefined, now: Date): Pair | undefined {
  return pair && endsAfter(pair.parsed, 0, now) ? pair : undefined;
}

function day(now: Date): string {
  return now.toISOString().slice(0, 10);
}

function endedAuthority(files: PairFiles, { parsed }: Pair): string {
  return (
    `the authority in ${files.certificate} ended on ${parsed.validToDate.toISOString().slice(0, 10)}: ` +
    "make another with --new-authority, and give its caData to every kube-scheduler that trusts this one"
  );
}

interface Keeper {
  /** The authority that signs, and the previous one while that is trusted too. */
  readonly issuers: readonly Pair[];
  readonly now: Date;
  readonly renew: boolean;
}

interface Leaf {
  fits(pair: Pair): boolean;
  issue(issuer: Issued): Promise<Issued>;
}

async function keep({ issuers, now, renew }: Keeper, files: PairFiles, leaf: Leaf) {
  const kept = renew ? undefined : await readUndamaged(files);
  const lasts = kept && endsAfter(kept.parsed, RENEWAL, now) && leaf.fits(kept);
  if (lasts && issuers.some((issuer) => isIssuedBy(kept, issuer))) return { pair: kept, made: false };
  const [issuer] = issuers;
  if (issuer === undefined) throw new RangeError("no authority signs");
  return { pair: await writePair(files, await leaf.issue(issuer)), made: true };
}

/** A leaf costs nothing to replace, since its authority is trusted: damaged files are as good as none. */
async function readUndamaged(files: PairFiles): Promise<Pair | undefined> {
  return readPair(files).catch((error: unknown) => {
    if (error instanceof PairError) return undefined;
    throw error;
  });
}

function explained(error: unknown, folder: string): unknown {
  if (error instanceof PairError) {
    return new CommandError(
      `${error.message}: put the file back, or take another folder for a new authority, ` +
        "whose caData every kube-scheduler that trusts the old one then needs",
    );
  }
  const problem = folderProblem(error, folder);
  return problem === undefined ? error : new CommandError(problem);
}
