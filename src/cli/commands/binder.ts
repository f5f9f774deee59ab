import { Command } from "commander";

/** `berth binder`: the in-cluster binder. */
export function binderCommand(): Command {
  return new Command("binder")
    .summary("run the in-cluster binder: filter, prioritize, preempt and bind by the cluster as it is")
    .description(
      "Runs the binder until SIGTERM or SIGINT. It answers all verbs of one extender entry by node names, gives pods " +
        "their devices, and stands in for gpushare's scheduler extender under /gpushare-scheduler. bind and preempt are " +
        "answered to verified client certificates and to callers on this machine only.",
    )
    .addHelpText(
      "after",
      `
Settings come from the environment, those of \`berth serve\` and:
  BERTH_CONFIG           berth.yaml, read again when it changes; without it and a function there is the profile
                         gpushare-scheduler only
  BERTH_KUBECONFIG       a kubeconfig file; when not set, the service account of this pod
  BERTH_LEASE_NAMESPACE  where the Lease berth-binder lives; when not set, the namespace of the pod or the kubeconfig
  BERTH_GRACE_SECONDS    how long a promised device waits for its pod to be bound, 30 when not set

Policies from a function:
  BERTH_FUNCTION_URL         https://host, without a profile
  BERTH_FUNCTION_PROFILES    the profiles that come from it, such as gpu,batch
  BERTH_FUNCTION_TOKEN_FILE  a file with its bearer token, read again whenever it is used (or BERTH_FUNCTION_TOKEN)
  BERTH_FUNCTION_CA          a file with the authority of its certificate; when not set, the system's
  BERTH_FUNCTION_SECONDS     between two looks for a new policy, 3 when not set
  BERTH_FUNCTION_DEADLINE_MS how long a pod waits for it where only it has a plugin's code, 1000 when not set
  BERTH_POLICY_CACHE         a directory for the last good policies, in force at start while the function is away
  BERTH_CLUSTER              a name of this cluster: with it a cluster sees one version during a gradual deployment

A second policy for the same pods, decided where nobody waits for it (berth shadow shows the differences):
  BERTH_SHADOW_PROFILE       default=trial: the profile trial in the shadow of default
  BERTH_SHADOW_URL           another function, whose profiles of the same names are tried; with BERTH_SHADOW_TOKEN_FILE
                             (or BERTH_SHADOW_TOKEN) and BERTH_SHADOW_CA

Example, in place of gpushare's scheduler extender, on the host of kube-scheduler:
  BERTH_LISTEN=127.0.0.1:32766 BERTH_OPEN=loopback BERTH_KUBECONFIG=/etc/kubernetes/berth.conf npx berth binder`,
    )
    .action(async () => (await import("../binder.ts")).binder());
}
