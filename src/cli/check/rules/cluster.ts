import { field } from "../../../protocol/json.ts";
import { extendersOf } from "../../kube-scheduler/extender.ts";
import type { Remark, Rule } from "../finding.ts";

/** What depends on the cluster around: its DNS, and what its nodes advertise. */
export const cluster: Rule = (found, around) => [...dns(found, around), ...advertised(found, around)];

const dns: Rule = ({ value }, { hostNetwork }) => {
  if (hostNetwork === false) return [];
  const inPod = !field(field(value, "clientConnection"), "kubeconfig") && hostNetwork === undefined;
  return extendersOf(value).flatMap(({ index, address }): Remark[] =>
    address?.clusterName
      ? [
          {
            rule: "cluster-dns",
            severity: inPod ? "note" : "warning",
            path: ["extenders", index, "urlPrefix"],
            reason: `on the host's network kube-scheduler asks the host's DNS, which does not know ${address.host}: calls end in "no such host" or "context deadline exceeded"`,
            mend: "Write the Service's ClusterIP and set tlsConfig.serverName to the name; or give the static pod hostAliases.",
          },
        ]
      : [],
  );
};

const advertised: Rule = ({ value }, { advertised: known }) => {
  if (known === undefined) return [];
  return extendersOf(value).flatMap((extender) =>
    extender.resources.flatMap(({ name, ignored, index }): Remark[] => {
      if (ignored === !known.has(name)) return [];
      const path = ["extenders", extender.index, "managedResources", index, ignored ? "ignoredByScheduler" : "name"];
      if (ignored) {
        const reason = `nodes advertise ${name}, and kube-scheduler is told not to count it: only the extender keeps nodes from being overfilled`;
        return [
          {
            rule: "uncounted-resource",
            severity: "note",
            path,
            reason,
            mend: "Set ignoredByScheduler: false unless the extender counts differently.",
          },
        ];
      }
      const reason = `no node advertises ${name}: kube-scheduler itself refuses every pod that asks for it ("Insufficient ${name}") before the extender is asked`;
      return [
        {
          rule: "unadvertised-resource",
          severity: "warning",
          path,
          reason,
          mend: "Set ignoredByScheduler: true, or install the device plugin that advertises it.",
        },
      ];
    }),
  );
};
