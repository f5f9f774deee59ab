import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { CommandError } from "../command-error.ts";
import { type ConfigurationWish, PLATFORMS, type Platform, WIRINGS, type Wiring } from "../config/options.ts";

/** Where the function runs. */
export const PLACES = ["cluster", "workers", "none"] as const;
export type Place = (typeof PLACES)[number];

/** What `berth init` wants to know; what is not given has a default that depends on the rest. */
export interface Answers {
  readonly wiring?: Wiring;
  readonly platform?: Platform;
  readonly kubernetesVersion?: string;
  readonly function?: Place;
  /** Of a function on Workers. */
  readonly functionUrl?: string;
  /** A fixed address for the Service that kube-scheduler calls. */
  readonly clusterIp?: string;
  readonly managedResource?: readonly string[];
}

/** Everything that the kit is made from. */
export interface Kit {
  readonly wiring: Wiring;
  readonly platform: Platform;
  readonly kubernetesVersion: string;
  readonly place: Place;
  /** True where a binder runs in the cluster. */
  readonly binder: boolean;
  readonly functionUrl: string | undefined;
  readonly clusterIp: string | undefined;
  readonly managedResources: readonly string[];
  readonly profile: string;
}

/** Names of the Services of infra/, which their certificates have. */
export const SERVICES = {
  binder: "berth-binder.berth-system.svc",
  function: "berth-function.berth-system.svc",
} as const;

/** The secret that the function on Workers, or the binder's function, knows its caller by. */
export const SECRET_NAME = "THIS_CLUSTER";

/** A new secret, of 192 random bits, that fits into a path. */
export function newSecret(): string {
  return randomBytes(24).toString("base64url");
}

/**
 * Completes answers.
 *
 * @throws {CommandError} for answers that do not go together
 */
export function kitOf(answers: Answers): Kit {
  const { wiring = "prioritize-only", platform = "kubeadm", functionUrl, clusterIp } = answers;
  if (!WIRINGS.includes(wiring)) throw new CommandError(`--wiring ${wiring}: one of ${WIRINGS.join(", ")}`);
  const binder = wiring === "relay" || wiring === "binder-only" || wiring === "second-scheduler";
  const place = answers.function ?? (wiring === "binder-only" || wiring === "second-scheduler" ? "none" : "cluster");
  const kit: Kit = {
    wiring,
    platform,
    kubernetesVersion: answers.kubernetesVersion ?? "1.37",
    place,
    binder,
    functionUrl,
    clusterIp,
    managedResources: answers.managedResource ?? (wiring === "binder-only" ? ["aliyun.com/gpu-mem"] : []),
    profile: wiring === "binder-only" ? "gpu" : "default",
  };
  const problem = problemOf(kit);
  if (problem !== undefined) throw new CommandError(problem);
  return kit;
}

function problemOf(kit: Kit): string | undefined {
  return placeProblem(kit) ?? addressProblem(kit);
}

function placeProblem({ wiring, place, binder }: Kit): string | undefined {
  const needed = !binder || wiring === "relay";
  if (needed && place === "none")
    return `the wiring ${wiring} needs a function: --function cluster or --function workers`;
  if (needed || place === "none") return undefined;
  return `in the wiring ${wiring} the binder decides by itself here: leave out --function, or take relay`;
}

function addressProblem({ place, functionUrl, clusterIp }: Kit): string | undefined {
  if (clusterIp !== undefined && isIP(clusterIp) === 0) return `--cluster-ip ${clusterIp} is no IP address`;
  if (place !== "workers") {
    return functionUrl === undefined
      ? undefined
      : "--function-url is for a function on Workers: add --function workers";
  }
  if (functionUrl === undefined) {
    return "a function on Workers has an address: give --function-url, such as https://berth.example.workers.dev";
  }
  return /^https:\/\/[^/?#@]+\/?$/.test(functionUrl)
    ? undefined
    : "--function-url must be https://host, without a path";
}

/** Where kube-scheduler finds its files: on its host, or mounted into the second scheduler's pod. */
function filesOf({ wiring }: Kit): Pick<ConfigurationWish, "caFile" | "clientCert" | "clientKey"> {
  const [folder, name] = wiring === "second-scheduler" ? ["/etc/berth", "tls"] : ["/etc/kubernetes/berth", "client"];
  return { caFile: `${folder}/ca.crt`, clientCert: `${folder}/${name}.crt`, clientKey: `${folder}/${name}.key` };
}

/** The scheduler configuration that goes with a kit. */
export function wishOf(kit: Kit, secret: string): ConfigurationWish {
  const { wiring, platform, kubernetesVersion, profile, managedResources, place, clusterIp, functionUrl } = kit;
  const service = kit.binder ? SERVICES.binder : SERVICES.function;
  const inside = { url: `https://${clusterIp ?? service}`, ...(clusterIp !== undefined && { serverName: service }) };
  const { url, ...serverName } = inside;
  const target = kit.binder
    ? { binderUrl: url, ...serverName, ...filesOf(kit) }
    : place === "workers"
      ? { functionUrl: `${functionUrl?.replace(/\/$/, "")}/${secret}` }
      : { functionUrl: url, ...serverName, ...filesOf(kit) };
  return {
    wiring,
    platform: PLATFORMS[platform] ? platform : "kubeadm",
    kubernetesVersion,
    profile,
    weight: 5,
    schedulerName: "berth",
    lease: "berth-system/berth-scheduler",
    managedResources: managedResources.map((name) => ({ name, ignored: false })),
    ...target,
  };
}
