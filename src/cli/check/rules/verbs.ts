import { type Extender, extendersOf, profilesOf } from "../../kube-scheduler/extender.ts";
import { preempts } from "../../kube-scheduler/preemption.ts";
import { isExtendedResource } from "../../kube-scheduler/resource-name.ts";
import { BLIND_SCORES_SINCE } from "../../kube-scheduler/versions.ts";
import type { Remark, Rule, Surroundings } from "../finding.ts";

/** What one extender is asked, and what comes of it. */
export const verbs: Rule = ({ value }, around) => {
  const preempting = profilesOf(value).some(preempts);
  return extendersOf(value).flatMap((extender) => [
    ...(preempting ? evicts(extender) : []),
    ...blinds(extender, around),
    ...ignorableBind(extender),
    ...weightless(extender),
    ...idle(extender),
  ]);
};

const at = ({ index }: Extender, ...path: (string | number)[]): Remark["path"] => ["extenders", index, ...path];

function evicts(extender: Extender): Remark[] {
  if (!extender.verbs.filter || extender.verbs.preempt) return [];
  return [
    {
      rule: "filter-without-preempt",
      severity: "error",
      path: at(extender, "filterVerb"),
      reason:
        "it filters and does not answer preempt while preemption is on: a pod that it refuses everywhere evicts one pod after the other, for ever, in vain",
      mend: "Add preemptVerb if it answers that; or disable DefaultPreemption under plugins.postFilter of every profile.",
    },
  ];
}

function blinds(extender: Extender, { minor }: Surroundings): Remark[] {
  if (!extender.verbs.filter || extender.names || (minor ?? BLIND_SCORES_SINCE) < BLIND_SCORES_SINCE) return [];
  return [
    {
      rule: "blind-scores",
      severity: "warning",
      path: at(extender, extender.entry["nodeCacheCapable"] === undefined ? "filterVerb" : "nodeCacheCapable"),
      reason: `after a filter with whole nodes kube-scheduler 1.${BLIND_SCORES_SINCE} and newer scores every node as idle and without images: https://github.com/kubernetes/kubernetes/issues/141781`,
      mend: "Prioritize only; or filter by names (nodeCacheCapable: true) if the extender knows the nodes, as an in-cluster binder does.",
    },
  ];
}

function ignorableBind(extender: Extender): Remark[] {
  if (!extender.verbs.bind || !extender.ignorable) return [];
  return [
    {
      rule: "ignorable-bind",
      severity: "error",
      path: at(extender, "ignorable"),
      reason:
        "when its bind fails, kube-scheduler binds the pod itself, without the devices that the extender would have given it",
      mend: "Set ignorable: false.",
    },
  ];
}

function weightless(extender: Extender): Remark[] {
  const weight = extender.entry["weight"] ?? 0;
  if (!extender.verbs.prioritize || typeof weight !== "number") return [];
  if (weight > 0) return weight < 16 ? [] : [overwhelming(extender, weight)];
  const path = at(extender, extender.entry["weight"] === undefined ? "prioritizeVerb" : "weight");
  const reason = "an extender that prioritizes needs a weight of at least 1: kube-scheduler refuses the file";
  return [{ rule: "weight", severity: "error", path, reason, mend: "Write weight: 1 or more." }];
}

function overwhelming(extender: Extender, weight: number): Remark {
  return {
    rule: "heavy-weight",
    severity: "note",
    path: at(extender, "weight"),
    reason: `its best score adds ${weight * 100} points, which outweighs everything that pods and kube-scheduler prefer themselves (1,500 at most)`,
    mend: "Take the smallest weight that does what you want: 3 outweighs a preferred node affinity.",
  };
}

function idle(extender: Extender): Remark[] {
  if (Object.values(extender.verbs).some(Boolean)) return [];
  const reason = "it has no verb, so it is never called";
  return [
    {
      rule: "no-verb",
      severity: "warning",
      path: at(extender),
      reason,
      mend: "Add prioritizeVerb: prioritize, or remove the entry.",
    },
  ];
}

/** Extenders that get into each other's way. */
export const together: Rule = ({ value }) => {
  const extenders = extendersOf(value);
  return [...severalBinders(extenders), ...resources(extenders)];
};

function severalBinders(extenders: readonly Extender[]): Remark[] {
  const binders = extenders.filter((each) => each.verbs.bind);
  const urls = binders.map(({ shown }) => shown).join(" and ");
  return binders.slice(1).map((extender) => ({
    rule: "two-binders",
    severity: "error",
    path: at(extender, "bindVerb"),
    reason: `only one extender may bind, whatever resources they manage, and these do: ${urls}; kube-scheduler does not start`,
    mend: "Leave bindVerb to one of them; Berth's binder serves several kinds of resources in one process.",
  }));
}

function resources(extenders: readonly Extender[]): Remark[] {
  const seen = new Set<string>();
  return extenders.flatMap((extender) =>
    extender.resources.flatMap(({ name, index }): Remark[] => {
      const path = at(extender, "managedResources", index, "name");
      const repeated = seen.has(name);
      seen.add(name);
      if (!isExtendedResource(name)) {
        const reason = "is not the name of an extended resource: kube-scheduler refuses the file";
        return [
          {
            rule: "resource-name",
            severity: "error",
            path,
            reason,
            mend: "Write domain/name, such as example.com/gpu.",
          },
        ];
      }
      if (!repeated) return [];
      const reason = `${name} stands here for the second time, and a resource may belong to one extender: kube-scheduler refuses the file`;
      return [{ rule: "same-resource", severity: "error", path, reason, mend: "Remove one of the two." }];
    }),
  );
}
