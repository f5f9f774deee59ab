import { field, type Json, type JsonObject } from "../../protocol/json.ts";
import type { Path } from "../kube-scheduler/document.ts";
import { entries } from "../kube-scheduler/extender.ts";
import { parseGates } from "../kube-scheduler/feature-gates.ts";
import type { Other } from "../kube-scheduler/read.ts";
import { parseMinor } from "../kube-scheduler/versions.ts";
import type { Remark } from "./finding.ts";

/** How kube-scheduler is started, as far as a manifest beside the configuration tells. */
export interface Started {
  readonly minor?: number;
  readonly gates: ReadonlyMap<string, boolean>;
  readonly hostNetwork: boolean;
}

interface Container {
  readonly value: JsonObject;
  readonly path: Path;
  readonly hostNetwork: boolean;
}

/** Reads the pods of an object that run kube-scheduler: a Pod itself, or the template of a Deployment and its like. */
export function startedBy({ value }: Other): Started[] {
  return schedulers(value).map(({ value: container, hostNetwork }) => {
    const minor = parseMinor(/kube-scheduler[\w.-]*:(v?[\w.-]+)$/.exec(String(field(container, "image")))?.[1] ?? "");
    return {
      ...(minor !== undefined && { minor }),
      gates: parseGates(flag(words(container), "feature-gates")),
      hostNetwork,
    };
  });
}

/** Flags of kube-scheduler that are gone, which the file's own text cannot show. */
export function flagRemarks({ value }: Other): Remark[] {
  return schedulers(value).flatMap(({ value: container, path }) =>
    GONE_FLAGS.filter((name) => flag(words(container), name) !== undefined).map((name) => ({
      rule: "gone-flag",
      severity: "error" as const,
      path,
      reason: `kube-scheduler has no --${name} since 1.23 and does not start with it`,
      mend: "Write a KubeSchedulerConfiguration (berth config --from FILE) and name it with --config.",
    })),
  );
}

const GONE_FLAGS = ["policy-config-file", "policy-configmap", "policy-configmap-namespace", "use-legacy-policy-config"];

function schedulers(value: JsonObject): Container[] {
  const spec = field(value, "spec");
  const [pod, base] =
    field(value, "kind") === "Pod"
      ? [spec, ["spec"]]
      : [field(field(spec, "template"), "spec"), ["spec", "template", "spec"]];
  return entries(field(pod, "containers")).flatMap((container, index) =>
    words(container).some((word) => /(^|\/)kube-scheduler$/.test(word)) ||
    /\/kube-scheduler[\w-]*:/.test(String(field(container, "image")))
      ? [{ value: container, path: [...base, "containers", index], hostNetwork: field(pod, "hostNetwork") === true }]
      : [],
  );
}

function words(container: JsonObject): string[] {
  const list = (key: string): readonly Json[] => {
    const value = field(container, key);
    return Array.isArray(value) ? value : [];
  };
  return [...list("command"), ...list("args")].map(String);
}

/** A flag's value, written with `=` or as the next word. */
function flag(args: readonly string[], name: string): string | undefined {
  const index = args.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  if (index < 0) return undefined;
  const word = args[index] ?? "";
  return word.includes("=") ? word.slice(word.indexOf("=") + 1) : (args[index + 1] ?? "");
}
