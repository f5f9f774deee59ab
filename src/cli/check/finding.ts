import type { Path, Place } from "../kube-scheduler/document.ts";
import type { Found, Other } from "../kube-scheduler/read.ts";

/**
 * error: kube-scheduler refuses the file, or pods are harmed. warning: works until something goes wrong, or is not safe.
 * note: worth knowing.
 */
export type Severity = "error" | "warning" | "note";

/** Something worth saying about a configuration. Its texts never hold a secret of it. */
export interface Finding extends Place {
  /** Names the kind of the finding; stable, for scripts. */
  readonly rule: string;
  readonly severity: Severity;
  /** Such as `extenders[0].bindVerb`; empty for the file as a whole. */
  readonly path: string;
  readonly reason: string;
  /** What to do. */
  readonly mend: string;
}

/** What a rule says; the place is looked up from the path. */
export interface Remark extends Pick<Finding, "rule" | "severity" | "reason" | "mend"> {
  readonly path: Path;
}

/** What the checker knows beside the file. */
export interface Surroundings {
  /** Of Kubernetes, such as 37; undefined when nobody said. */
  readonly minor: number | undefined;
  /** Of kube-scheduler, as far as they are known. */
  readonly gates: ReadonlyMap<string, boolean>;
  /** On the host's network kube-scheduler asks the host's DNS; undefined when nobody said. */
  readonly hostNetwork: boolean | undefined;
  /** Resources that nodes of the cluster advertise; undefined when nobody gave nodes. */
  readonly advertised: ReadonlySet<string> | undefined;
}

/** A rule looks at one configuration. */
export type Rule = (found: Found, around: Surroundings) => Remark[];

/** A rule that looks at what stands around configurations. */
export type OtherRule = (other: Other) => Remark[];
