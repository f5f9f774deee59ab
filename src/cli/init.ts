import { existsSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_NAMES, makeCertificates } from "./certs/folder.ts";
import { CommandError } from "./command-error.ts";
import { generateConfiguration } from "./config/generate.ts";
import { type Answers, type Kit, kitOf, newSecret, SECRET_NAME, SERVICES, wishOf } from "./init/answers.ts";
import { binderFile, factsFile, type KitFile, policyFile } from "./init/files.ts";
import { nextSteps } from "./init/next.ts";
import { kustomizationFile, layerFile } from "./init/overlay.ts";
import { wranglerFile } from "./init/wrangler-settings.ts";
import { createScreen, type Screen } from "./screen.ts";

/** Options of `berth init`, as commander gives them. */
export interface InitOptions extends Answers {
  readonly yes?: boolean;
  readonly force?: boolean;
}

/**
 * Writes everything that one cluster needs into a folder: policy, facts, certificates, the scheduler's configuration, and
 * the manifests or wrangler's settings that go with it. Asks on a terminal for what the options leave open.
 *
 * @throws {CommandError | ConfigurationRefused} with one message for people; no file of the kit was changed then
 */
export async function init(folder: string, options: InitOptions): Promise<void> {
  const { yes, force, ...given } = options;
  const interactive = !yes && process.stdin.isTTY && process.stdout.isTTY;
  const kit = kitOf(interactive ? await (await import("./init/ask.ts")).ask(given) : given);
  const secret = newSecret();
  const { text, flags } = generateConfiguration(wishOf(kit, secret));
  const files: KitFile[] = [
    policyFile(kit),
    factsFile(),
    { path: "scheduler.yaml", text, secret: kit.place === "workers" && !kit.binder },
    ...secretFiles(kit, secret),
    ...(kit.place === "workers" ? [wranglerFile(releaseRoot(), resolve(folder))] : []),
  ];
  const kustomization = kustomizationFile(kit);
  files.push(...[kustomization, layerFile(kit), binderFile(kit)].filter((file) => file !== undefined));
  if (!force) refuseToOverwrite(folder, files, kustomization !== undefined);
  const screen = createScreen(process.stdout, process.stderr);
  await screen.step(
    "certificates",
    () => certificates(folder, kit),
    (made) => made,
  );
  for (const file of files) await write(folder, file);
  if (kustomization) await cp(join(releaseRoot(), "infra"), join(folder, "infra"), { recursive: true });
  const written = files.map(({ path }) => path);
  tell(screen, { kit, folder, flags, written: kustomization ? [...written, INFRA] : written });
}

function secretFiles({ place, wiring }: Kit, secret: string): KitFile[] {
  const needed = wiring === "relay" || place === "workers";
  if (!needed) return [];
  return [
    { path: "secrets/.gitignore", text: "*\n" },
    ...(wiring === "relay" ? [{ path: "secrets/token", text: secret, secret: true }] : []),
    ...(place === "workers"
      ? [{ path: "secrets/function.env", text: `${SECRET_NAME}=${secret}\n`, secret: true }]
      : []),
  ];
}

function refuseToOverwrite(folder: string, files: readonly KitFile[], copiesInfra: boolean): void {
  const paths = [...files.map(({ path }) => path), ...(copiesInfra ? ["infra"] : [])];
  const there = paths.filter((path) => existsSync(join(folder, path)));
  if (there.length === 0) return;
  throw new CommandError(
    `${folder} has ${there.join(", ")} already, and nothing was written: take another folder, or --force to replace them (certificates are kept)`,
  );
}

async function certificates(folder: string, kit: Kit): Promise<string> {
  if (!kit.binder && kit.place !== "cluster") return "no certificates: the function's is public";
  const names = [
    ...DEFAULT_NAMES,
    SERVICES.function,
    `${SERVICES.function}.cluster.local`,
    ...(kit.clusterIp === undefined ? [] : [kit.clusterIp]),
  ];
  const { made } = await makeCertificates(join(folder, "certs"), { names });
  return made.length === 0 ? "certificates: those in certs/ are good" : `certificates in certs/: ${made.join(", ")}`;
}

async function write(folder: string, { path, text, secret }: KitFile): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode: secret ? 0o600 : 0o644 });
}

/** Where this release has infra/ and wrangler.toml: in a checkout two folders up. */
function releaseRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "infra", "binder"))) {
    const parent = dirname(folder);
    if (parent === folder)
      throw new CommandError("this release has no folder infra/ beside it: take it from a checkout");
    folder = parent;
  }
  return folder;
}

interface Made {
  readonly kit: Kit;
  readonly folder: string;
  readonly flags: readonly string[];
  readonly written: readonly string[];
}

const INFRA = "infra/ (a copy of this release's manifests; kustomization.yaml names those that are applied)";

function tell(screen: Screen, { kit, folder, flags, written }: Made): void {
  const near = relative("", folder) || ".";
  const shown = near.startsWith("..") ? resolve(folder) : near;
  screen.note(`written to ${shown}: ${written.join(", ")}`);
  if (flags.length > 0) screen.note(`kube-scheduler's flags beside --config: ${flags.join(" ")}`);
  screen.print("Next:");
  for (const { command, does } of nextSteps(kit, shown))
    screen.print(`  ${command}  ${screen.paint("dim", `# ${does}`)}`);
}
