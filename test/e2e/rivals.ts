import type { ControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import type { KubeObject } from "../controlplane/objects.ts";
import { ACCOUNT, applyInfra, NAMESPACE, type RunningBinder, startBinder } from "./binder.ts";
import { type Interposer, interpose } from "./interposer.ts";

/** The grace time of the rivals, in milliseconds. */
export const GRACE_MS = 4_000;

/** A binder, and what stands between it and the API server. */
export interface Rival {
  readonly binder: RunningBinder;
  readonly interposer: Interposer;
}

/** Allows the binder's account a Lease in another namespace too: who competes there is not in the others' way. */
export async function allowLeaseIn(plane: ControlPlane, namespace: string): Promise<void> {
  await applyInfra(plane, (object) => {
    const lease = ["Role", "RoleBinding"].includes(object.kind) && object.metadata.namespace === NAMESPACE;
    return lease ? ({ ...object, metadata: { ...object.metadata, namespace } } as KubeObject) : object;
  });
}

/** A namespace. */
export function namespaceObject(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

/** Starts two binders with a Lease each, so that both believe they lead, and waits until they do. infra/ has to be there. */
export async function startRivals(plane: ControlPlane): Promise<[Rival, Rival]> {
  await plane.api.create(namespaceObject("elsewhere"));
  await allowLeaseIn(plane, "elsewhere");
  const start = async (name: string, namespace: string): Promise<Rival> => {
    const interposer = await interpose(plane, `via-${name}`, await plane.serviceAccountKubeconfig(NAMESPACE, ACCOUNT));
    const env = {
      BERTH_KUBECONFIG: interposer.kubeconfig,
      BERTH_LEASE_NAMESPACE: namespace,
      BERTH_GRACE_SECONDS: String(GRACE_MS / 1000),
    };
    const binder = await startBinder(plane, { name, open: true, env });
    await eventually(`${name} leads`, async () => /^berth_leader 1$/m.test((await binder.get("/metrics")).text));
    return { binder, interposer };
  };
  return [await start("binder-one", NAMESPACE), await start("binder-other", "elsewhere")];
}
