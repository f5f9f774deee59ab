import { field, isObject, type JsonObject } from "../../../protocol/json.ts";
import { entries, extendersOf, profilesOf } from "../../kube-scheduler/extender.ts";
import { GONE_PLUGINS } from "../../kube-scheduler/plugins.ts";
import type { Remark, Rule } from "../finding.ts";

/** Names, elections and plugins of the profiles. */
export const profiles: Rule = ({ kind, value }, around) =>
  kind === "Policy" ? [] : [...names(value), ...election(value), ...gonePlugins(value), ...gangs(value, around.gates)];

function names(value: JsonObject): Remark[] {
  const all = entries(field(value, "profiles")).map((profile) => field(profile, "schedulerName"));
  return all.flatMap((name, index): Remark[] => {
    const path = ["profiles", index, "schedulerName"];
    const mend = "Give each profile a schedulerName of its own.";
    const refused = "kube-scheduler refuses the file";
    if (name === undefined || name === "") {
      if (all.length === 1 && name === undefined) return [];
      return [{ rule: "profile-name", severity: "error", path, reason: `the profile has no name: ${refused}`, mend }];
    }
    if (all.indexOf(name) === index) return [];
    return [
      {
        rule: "profile-name",
        severity: "error",
        path,
        reason: `another profile has this name already: ${refused}`,
        mend,
      },
    ];
  });
}

function election(value: JsonObject): Remark[] {
  const leader = field(value, "leaderElection");
  const own = profilesOf(value).map((profile) => field(profile, "schedulerName") ?? "default-scheduler");
  const elects = field(leader, "leaderElect") !== false;
  const lock = field(leader, "resourceLock");
  const remarks: Remark[] = [];
  if (elects && typeof lock === "string" && lock !== "leases" && lock !== "") {
    const reason = "kube-scheduler elects by leases alone and refuses every other resourceLock";
    remarks.push({
      rule: "resource-lock",
      severity: "error",
      path: ["leaderElection", "resourceLock"],
      reason,
      mend: "Write resourceLock: leases, or remove it.",
    });
  }
  const lease = field(leader, "resourceName") ?? "kube-scheduler";
  const namespace = field(leader, "resourceNamespace") ?? "kube-system";
  if (elects && !own.includes("default-scheduler") && lease === "kube-scheduler" && namespace === "kube-system") {
    remarks.push({
      rule: "same-lease",
      severity: "warning",
      path: ["leaderElection", "resourceName"],
      reason: "a second scheduler with the Lease kube-scheduler waits for ever: the cluster's own scheduler holds it",
      mend: "Give leaderElection a resourceName of its own, and its service account the right to that Lease.",
    });
  }
  return remarks;
}

function gonePlugins(value: JsonObject): Remark[] {
  return enabledPlugins(value)
    .filter(({ name }) => GONE_PLUGINS.includes(name))
    .map(({ name, path }) => ({
      rule: "gone-plugin",
      severity: "error",
      path,
      reason: `kube-scheduler has no plugin ${name} any more and does not start with it`,
      mend: `Remove ${name}${/Limits$/.test(name) ? ": NodeVolumeLimits counts CSI volumes instead" : ""}.`,
    }));
}

function gangs(value: JsonObject, gates: ReadonlyMap<string, boolean>): Remark[] {
  const plugin = enabledPlugins(value).find(({ name }) => name === "GangScheduling" || name === "PodGroupPodsCount");
  if (extendersOf(value).length === 0 || !(gates.get("GenericWorkload") || plugin)) return [];
  return [
    {
      rule: "gangs",
      severity: "warning",
      path: plugin?.path ?? ["extenders"],
      reason:
        "gangs are on (PodGroup, feature gate GenericWorkload), and an extender is asked about one pod at a time: it may split a gang",
      mend: "Leave pods of gangs to a scheduler without extenders.",
    },
  ];
}

function enabledPlugins(value: JsonObject): { name: string; path: Remark["path"] }[] {
  return entries(field(value, "profiles")).flatMap((profile, index) => {
    const sets = field(profile, "plugins");
    return Object.entries(isObject(sets) ? sets : {}).flatMap(([point, set]) =>
      entries(field(set, "enabled")).map((plugin, at) => ({
        name: String(field(plugin, "name")),
        path: ["profiles", index, "plugins", point, "enabled", at, "name"],
      })),
    );
  });
}
