import { field, isObject, type Json, type JsonObject } from "../../protocol/json.ts";

const PLUGIN = "DefaultPreemption";

/**
 * Tells whether a profile preempts: DefaultPreemption is on unless it, or everything, is disabled for `postFilter`
 * (where it works) or `multiPoint` (where it is enabled) and not enabled again (k8s.io/kubernetes v1.37.2
 * pkg/scheduler/apis/config/v1/default_plugins.go, pkg/scheduler/framework/runtime).
 */
export function preempts(profile: JsonObject): boolean {
  const plugins = field(profile, "plugins");
  const [own, general] = [field(plugins, "postFilter"), field(plugins, "multiPoint")];
  if (lists(own, "enabled", [PLUGIN])) return true;
  if (lists(own, "disabled", [PLUGIN, "*"])) return false;
  return lists(general, "enabled", [PLUGIN]) || !lists(general, "disabled", [PLUGIN, "*"]);
}

function lists(set: Json | undefined, key: "enabled" | "disabled", names: readonly string[]): boolean {
  const plugins = field(set, key);
  return Array.isArray(plugins) && plugins.some((each) => isObject(each) && names.includes(String(each["name"])));
}
