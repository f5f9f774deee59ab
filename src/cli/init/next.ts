import { RELEASE } from "../../protocol/release.ts";
import type { Kit } from "./answers.ts";

/** What to do after `berth init`: commands in their order, each with what it does. */
export function nextSteps(kit: Kit, folder: string): { readonly command: string; readonly does: string }[] {
  const check = {
    command: `npx berth check ${folder}/scheduler.yaml --kubernetes-version ${kit.kubernetesVersion}`,
    does: "what is worth knowing of the scheduler's configuration",
  };
  const apply = {
    command: `kubectl apply -k ${folder}`,
    does: `what runs in the cluster, from infra/; the image berth:${RELEASE} has to be in your registry first (docs/quickstart.md)`,
  };
  const deploy = {
    command: `npx wrangler deploy --config ${folder}/wrangler.toml --env production --secrets-file ${folder}/secrets/function.env`,
    does: "the function on Workers",
  };
  if (kit.wiring === "second-scheduler") {
    return [
      check,
      apply,
      {
        command: "kubectl -n berth-system rollout status deployment/berth-scheduler",
        does: "then give a pod schedulerName: berth",
      },
    ];
  }
  const files = kit.binder || kit.place === "cluster" ? ["certs/ca.crt", "certs/client.crt", "certs/client.key"] : [];
  const install = {
    command: `sudo install -D -m 0600 -t /etc/kubernetes/berth ${["scheduler.yaml", ...files].map((file) => `${folder}/${file}`).join(" ")}`,
    does: "on each control-plane node; then kube-scheduler with --config=/etc/kubernetes/berth/scheduler.yaml",
  };
  const runs = [
    ...(kit.place === "workers" ? [deploy] : []),
    ...(kit.binder || kit.place === "cluster" ? [apply] : []),
  ];
  return [...(runs.length === 1 ? [check] : []), ...runs, install];
}
