import { field } from "../../../protocol/json.ts";
import { entries } from "../../kube-scheduler/extender.ts";
import { OLDEST_V1 } from "../../kube-scheduler/versions.ts";
import type { Remark, Rule } from "../finding.ts";

const GROUP = "kubescheduler.config.k8s.io";
const V1 = `${GROUP}/v1`;

/** The version of the file, and what went with older ones. */
export const versions: Rule = (found, { minor }) => {
  if (found.kind === "Policy") return [POLICY];
  const remarks: Remark[] = [];
  if (field(found.value, "kind") === undefined) remarks.push(NO_KIND);
  if (found.apiVersion !== V1) remarks.push(oldVersion(found.apiVersion, ["apiVersion"]));
  if (minor !== undefined && minor < OLDEST_V1 && found.apiVersion === V1) {
    const reason = `${V1} exists since Kubernetes 1.${OLDEST_V1}: kube-scheduler 1.${minor} refuses the file`;
    remarks.push({
      rule: "api-version",
      severity: "error",
      path: ["apiVersion"],
      reason,
      mend: "Upgrade the cluster.",
    });
  }
  for (const [index, profile] of entries(field(found.value, "profiles")).entries()) {
    for (const [at, config] of entries(field(profile, "pluginConfig")).entries()) {
      const version = field(field(config, "args"), "apiVersion");
      if (typeof version !== "string" || !version.startsWith(`${GROUP}/v1beta`)) continue;
      remarks.push(oldVersion(version, ["profiles", index, "pluginConfig", at, "args", "apiVersion"]));
    }
  }
  return remarks;
};

const POLICY: Remark = {
  rule: "policy-file",
  severity: "error",
  path: ["kind"],
  reason: "Policy files are gone since Kubernetes 1.23: the file is refused or never read, and no extender is called",
  mend: `Move its extenders into a ${V1} KubeSchedulerConfiguration: berth config --from FILE does it.`,
};

const NO_KIND: Remark = {
  rule: "no-kind",
  severity: "error",
  path: [],
  reason: "the file does not say what it is: kube-scheduler refuses it",
  mend: `Begin with apiVersion: ${V1} and kind: KubeSchedulerConfiguration.`,
};

function oldVersion(apiVersion: string, path: Remark["path"]): Remark {
  const known = new RegExp(`^${GROUP}/v1(alpha|beta)\\d$`).test(apiVersion);
  return {
    rule: "api-version",
    severity: "error",
    path,
    reason: known
      ? `${apiVersion} is gone: since Kubernetes 1.29 kube-scheduler reads v1 alone`
      : `apiVersion is not ${V1}: kube-scheduler refuses the file`,
    mend: `Write apiVersion: ${V1}.`,
  };
}
