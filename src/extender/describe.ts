import type { FleetFacts } from "../policy/facts.ts";
import { isNear, type Policy, type PolicyPlugin } from "../policy/policy.ts";
import type { Views } from "../policy/view.ts";
import { EVALUATE_PROTOCOL, RELEASE } from "../protocol/release.ts";

/** A profile as data: what it does, what it reads, and everything needed to decide by it elsewhere. */
export function describeProfile(policy: Policy, facts: FleetFacts) {
  return {
    protocol: EVALUATE_PROTOCOL,
    release: RELEASE,
    profile: policy.profile,
    version: policy.version,
    plugins: policy.plugins.map(describePlugin),
    facts,
  };
}

function describePlugin(plugin: PolicyPlugin) {
  const { spec, weight, args, views, whenAway } = plugin;
  return {
    name: spec.name,
    version: spec.version,
    maturity: spec.maturity,
    doc: spec.doc,
    near: isNear(plugin),
    ...(spec.scale !== undefined && { weight, scale: spec.scale }),
    ...(whenAway && { whenAway }),
    args,
    reads: { pod: describeViews(views.pod), node: describeViews(views.node), around: describeViews(views.around) },
  };
}

function describeViews(views: Views) {
  return Object.values(views).map(({ name, of, pace, doc, paths }) => ({ name, of, pace, doc, paths }));
}
