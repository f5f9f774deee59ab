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
  BERTH_CONFIG           berth.yaml; when not set there is the profile gpushare-scheduler only
  BERTH_KUBECONFIG       a kubeconfig file; when not set, the service account of this pod
  BERTH_LEASE_NAMESPACE  where the Lease berth-binder lives; when not set, the namespace of the pod or the kubeconfig
  BERTH_GRACE_SECONDS    how long a promised device waits for its pod to be bound, 30 when not set

Example, in place of gpushare's scheduler extender, on the host of kube-scheduler:
  BERTH_LISTEN=127.0.0.1:32766 BERTH_OPEN=loopback BERTH_KUBECONFIG=/etc/kubernetes/berth.conf npx berth binder`,
    )
    .action(async () => (await import("../binder.ts")).binder());
}
