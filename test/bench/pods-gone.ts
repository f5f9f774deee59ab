import type { Api } from "../controlplane/api.ts";
import { eventually } from "../controlplane/eventually.ts";

const TYPE = { apiVersion: "v1", kind: "Pod", namespace: "default" } as const;

/** Takes all pods of the namespace `default` away. Throws when one is still there two minutes later. */
export async function removePods(api: Api): Promise<void> {
  await api.removeAll(TYPE);
  await eventually("all pods are gone", async () => (await api.list(TYPE)).length === 0, { within: 120_000 });
}
