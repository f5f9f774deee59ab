import { field, isObject, type JsonObject } from "../../../protocol/json.ts";
import { type Extender, extendersOf } from "../../kube-scheduler/extender.ts";
import type { Remark, Rule } from "../finding.ts";

/** Who is verified on the way to an extender (wire facts: makeTransport, k8s.io/kubernetes v1.37.2 pkg/scheduler/extender.go). */
export const tls: Rule = ({ value }) =>
  extendersOf(value).flatMap((extender) => JUDGES.flatMap((judge) => judge(facts(extender))));

interface TlsFacts {
  readonly extender: Extender;
  readonly enabled: boolean;
  readonly config: JsonObject;
  readonly hasConfig: boolean;
  readonly hasCa: boolean;
  readonly insecure: boolean;
}

function facts(extender: Extender): TlsFacts {
  const config = field(extender.entry, "tlsConfig");
  const set = isObject(config) ? config : {};
  return {
    extender,
    enabled: field(extender.entry, "enableHTTPS") === true || field(extender.entry, "enableHttps") === true,
    config: set,
    hasConfig: isObject(config),
    hasCa: Boolean(set["caFile"] || set["caData"]),
    insecure: set["insecure"] === true,
  };
}

type Judge = (facts: TlsFacts) => Remark[];

const at = ({ extender }: TlsFacts, ...path: string[]): Remark["path"] => ["extenders", extender.index, ...path];

const address: Judge = (facts) => {
  const { extender } = facts;
  if (extender.address || typeof extender.entry["urlPrefix"] !== "string") return [];
  const reason = "is no http or https URL: every call fails";
  return [
    {
      rule: "url",
      severity: "error",
      path: at(facts, "urlPrefix"),
      reason,
      mend: "Write https://host:port/path, without the verb.",
    },
  ];
};

const authority: Judge = (facts) => {
  const { extender, enabled, hasCa, insecure } = facts;
  if (insecure && hasCa) {
    const reason = "insecure together with a CA is refused: kube-scheduler does not start";
    return [
      {
        rule: "insecure-with-ca",
        severity: "error",
        path: at(facts, "tlsConfig", "insecure"),
        reason,
        mend: "Remove insecure.",
      },
    ];
  }
  if (extender.address?.https === false || !(insecure || (enabled && !hasCa))) return [];
  const [path, reason] = insecure
    ? [at(facts, "tlsConfig", "insecure"), "the server's certificate is not checked: whoever is on the way can answer"]
    : [
        at(facts, facts.extender.entry["enableHttps"] === true ? "enableHttps" : "enableHTTPS"),
        "enableHTTPS without a CA turns certificate checks off: whoever is on the way can answer",
      ];
  const mend =
    "Set tlsConfig.caFile, or for a public certificate remove enableHTTPS and tlsConfig: the machine's own roots then verify it.";
  return [{ rule: "unverified-tls", severity: "warning", path, reason, mend }];
};

const scheme: Judge = (facts) => {
  const { extender, enabled, hasConfig } = facts;
  if (extender.address?.https !== false) return [];
  const remarks: Remark[] = [];
  if (enabled || hasConfig) {
    const reason = "the URL begins with http://, so nothing is encrypted, whatever enableHTTPS and tlsConfig say";
    remarks.push({
      rule: "scheme",
      severity: "warning",
      path: at(facts, "urlPrefix"),
      reason,
      mend: "Write https://, or remove enableHTTPS and tlsConfig.",
    });
  }
  if (!extender.address.loopback) {
    const reason = `whole pods${extender.names ? "" : " and nodes"} travel in clear to ${extender.shown}, and anyone on the way can answer`;
    remarks.push({
      rule: "plain-http",
      severity: "warning",
      path: at(facts, "urlPrefix"),
      reason,
      mend: "Serve it with TLS and write https:// with tlsConfig.caFile.",
    });
  }
  return remarks;
};

const client: Judge = (facts) => {
  const { extender, config } = facts;
  const remarks: Remark[] = [];
  const [cert, key] = [
    Boolean(config["certFile"] || config["certData"]),
    Boolean(config["keyFile"] || config["keyData"]),
  ];
  if (cert !== key) {
    const reason = `the client ${cert ? "certificate has no key" : "key has no certificate"}: kube-scheduler starts and presents none`;
    remarks.push({
      rule: "half-client-certificate",
      severity: "error",
      path: at(facts, "tlsConfig"),
      reason,
      mend: "Set certFile and keyFile, both.",
    });
  }
  if (extender.verbs.bind && extender.address?.loopback === false && !cert) {
    const reason = "kube-scheduler presents no client certificate: whoever reaches the port can call bind too";
    remarks.push({
      rule: "unauthenticated-bind",
      severity: "warning",
      path: at(facts, "bindVerb"),
      reason,
      mend: "Set tlsConfig.certFile and keyFile, and have the extender demand them.",
    });
  }
  return remarks;
};

const pem: Judge = (facts) =>
  ["caData", "certData", "keyData"].flatMap((key): Remark[] => {
    const data = facts.config[key];
    if (typeof data !== "string") return [];
    const decoded = /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data) ? Buffer.from(data, "base64").toString("latin1") : "";
    if (decoded.includes("-----BEGIN ")) return [];
    const reason = "is not the base64 of a PEM file: kube-scheduler does not start";
    return [
      {
        rule: "pem",
        severity: "error",
        path: at(facts, "tlsConfig", key),
        reason,
        mend: `Write the output of base64 -w0 FILE, or use ${key.replace("Data", "File")}.`,
      },
    ];
  });

const ip: Judge = (facts) => {
  const { extender, config } = facts;
  const { address: where } = extender;
  if (!where?.https || !where.isIp || config["serverName"]) return [];
  const reason =
    "the URL names an IP address: the certificate must have it as an IP SAN, a common name is never looked at";
  return [
    {
      rule: "ip-san",
      severity: "note",
      path: at(facts, "urlPrefix"),
      reason,
      mend: "berth certs --name IP makes one; or set tlsConfig.serverName to a name that the certificate has.",
    },
  ];
};

const JUDGES: readonly Judge[] = [address, authority, scheme, client, pem, ip];
