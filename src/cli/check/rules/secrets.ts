import { field } from "../../../protocol/json.ts";
import { extendersOf } from "../../kube-scheduler/extender.ts";
import type { Remark, Rule } from "../finding.ts";

/** Secrets that kube-scheduler shows to others. They are never repeated here. */
export const secrets: Rule = ({ value }) =>
  extendersOf(value).flatMap(({ index, entry, address }) => {
    const remarks: Remark[] = [];
    if (address?.secret) {
      const where = address.secret === "userinfo" ? "a user or password" : "what looks like a secret";
      remarks.push({
        rule: "secret-in-url",
        severity: "warning",
        path: ["extenders", index, "urlPrefix"],
        reason: `the URL holds ${where}: kube-scheduler writes it into its log at -v=2, into /configz, and into the events of pods whenever a call fails`,
        mend: "Use a client certificate from files (tlsConfig.certFile, keyFile); or keep -v below 2 and the secret of no other use.",
      });
    }
    if (field(field(entry, "tlsConfig"), "keyData") !== undefined) {
      remarks.push({
        rule: "key-in-clear",
        severity: "warning",
        path: ["extenders", index, "tlsConfig", "keyData"],
        reason: "the private key stands in the file: kube-scheduler writes it into its log at -v=2 and into /configz",
        mend: "Put it into a file of mode 0600 and name it with keyFile.",
      });
    }
    return remarks;
  });
