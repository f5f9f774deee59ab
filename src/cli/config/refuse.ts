import { type Address, readAddress } from "../kube-scheduler/address.ts";
import { parseDuration } from "../kube-scheduler/duration.ts";
import { isExtendedResource } from "../kube-scheduler/resource-name.ts";
import { OLDEST_V1, parseMinor } from "../kube-scheduler/versions.ts";
import { ConfigurationRefused, type ConfigurationWish, PLATFORMS } from "./options.ts";

/** The binder answers bind after four seconds; it must not be hung up on before. */
const BINDER_TIMEOUT_MS = 5_000;

/**
 * Refuses what would not work or not be safe.
 *
 * @throws {ConfigurationRefused} with the first reason
 */
export function refuse(wish: ConfigurationWish): void {
  for (const judge of JUDGES) {
    const reason = judge(wish);
    if (reason !== undefined) throw new ConfigurationRefused(reason);
  }
}

type Judge = (wish: ConfigurationWish) => string | undefined;

const version: Judge = ({ kubernetesVersion }) => {
  const minor = parseMinor(kubernetesVersion);
  if (minor === undefined) return `Kubernetes version "${kubernetesVersion}": write it as 1.37 or v1.37.2`;
  if (minor < OLDEST_V1)
    return `Kubernetes 1.${minor} does not read kubescheduler.config.k8s.io/v1: 1.${OLDEST_V1} and newer do`;
  return undefined;
};

const platform: Judge = ({ platform: name, wiring }) =>
  PLATFORMS[name].kubeconfig === undefined && wiring !== "second-scheduler"
    ? `${name} lets nobody configure the cluster's kube-scheduler: use the wiring second-scheduler`
    : undefined;

const urls: Judge = ({ wiring, functionUrl, binderUrl }) => {
  if (wiring === "second-scheduler") {
    if ((functionUrl === undefined) === (binderUrl === undefined)) {
      return "a second scheduler asks either the function or the binder: give --function-url or --binder-url, one of the two";
    }
    return undefined;
  }
  const binder = wiring === "relay" || wiring === "binder-only";
  const [needed, other] = binder ? [binderUrl, functionUrl] : [functionUrl, binderUrl];
  if (needed === undefined) return `the wiring ${wiring} needs --${binder ? "binder" : "function"}-url`;
  if (other !== undefined) {
    return binder
      ? `in the wiring ${wiring} kube-scheduler asks the binder alone, which asks the function itself: leave out --function-url`
      : `in the wiring ${wiring} kube-scheduler asks the function alone: leave out --binder-url, or take relay`;
  }
  return undefined;
};

const address: Judge = (wish) => {
  const where = addressOf(wish);
  if (where === undefined) return "the URL is no http or https URL: write https://host:port, without a verb";
  if (where.url.search !== "" || where.url.hash !== "")
    return "the URL has a query or a fragment, and verbs are appended to it: leave that out";
  if (/\/(filter|prioritize|preempt|bind)\/?$/.test(where.url.pathname))
    return "the URL ends with a verb: kube-scheduler appends the verbs itself";
  if (where.https || where.loopback) return undefined;
  return `${where.shown} is not encrypted, and whole pods travel over it: use https, or http on 127.0.0.1`;
};

const tls: Judge = (wish) => {
  const { caFile, caData, clientCert, clientKey, serverName } = wish;
  if (caFile !== undefined && caData !== undefined)
    return "give the CA as a file that kube-scheduler opens (--ca-file) or inline (--ca-data), not both";
  if (caData !== undefined && !Buffer.from(caData, "base64").includes("-----BEGIN CERTIFICATE-----")) {
    return "the inline CA is not the base64 of a PEM file: give --ca-data the file itself";
  }
  if ((clientCert === undefined) !== (clientKey === undefined))
    return "a client certificate needs its key: give --client-cert and --client-key, both";
  const where = addressOf(wish);
  const any = caFile ?? caData ?? clientCert ?? serverName;
  if (where?.https === false && any !== undefined)
    return `${where.shown} is http, where no certificate is looked at: leave the TLS options out, or use https`;
  return undefined;
};

const binder: Judge = (wish) => {
  const where = addressOf(wish);
  if (wish.binderUrl === undefined || where === undefined) return undefined;
  if (wish.ignorable)
    return "an extender that binds must not be ignorable: kube-scheduler would bind its pods itself, without their devices";
  if (!where.loopback && wish.clientCert === undefined) {
    return "the binder takes bind and preempt from verified client certificates only: give --client-cert and --client-key (berth certs makes them)";
  }
  if (where.secret) return "the binder is called with a client certificate: leave the secret out of its URL";
  if (wish.wiring === "binder-only" && wish.managedResources.length === 0) {
    return "binder-only is for pods that ask for devices: name them with --managed-resource, such as aliyun.com/gpu-mem";
  }
  return undefined;
};

const numbers: Judge = ({ weight, timeout, binderUrl }) => {
  if (!Number.isInteger(weight) || weight < 1) return "the weight must be a whole number of at least 1";
  if (timeout === undefined) return undefined;
  const ms = parseDuration(timeout);
  if (ms === undefined || ms <= 0) return `the timeout "${timeout}" is no duration: write 1s, 1500ms or 1m30s`;
  if (binderUrl !== undefined && ms < BINDER_TIMEOUT_MS)
    return "the binder may take four seconds to answer bind: a timeout below 5s would hang up on it";
  return undefined;
};

const resources: Judge = ({ managedResources }) => {
  const names = managedResources.map(({ name }) => name);
  const odd = names.find((name) => !isExtendedResource(name));
  if (odd !== undefined)
    return `${odd} is not the name of an extended resource: write domain/name, such as example.com/gpu`;
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? undefined : `${repeated} is named twice`;
};

const names: Judge = ({ wiring, profile, schedulerName, lease }) => {
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(profile))
    return `"${profile}" cannot be a profile of berth.yaml: small letters, digits and dashes`;
  if (wiring !== "second-scheduler") return undefined;
  if (schedulerName === "default-scheduler")
    return "a second scheduler needs a name of its own: default-scheduler is the cluster's";
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(schedulerName))
    return `"${schedulerName}" cannot be the name of a scheduler: small letters, digits, dots and dashes`;
  if (!/^[-a-z0-9]+\/[-a-z0-9.]+$/.test(lease))
    return `the Lease "${lease}" must be namespace/name, such as berth-system/berth-scheduler`;
  if (lease === "kube-system/kube-scheduler")
    return "the Lease kube-system/kube-scheduler is the cluster's own: a second scheduler would wait for it for ever";
  return undefined;
};

const JUDGES: readonly Judge[] = [version, platform, urls, address, tls, binder, numbers, resources, names];

function addressOf({ binderUrl, functionUrl }: ConfigurationWish): Address | undefined {
  return readAddress(binderUrl ?? functionUrl ?? "");
}
