/**
 * The secrets of the callers in berth.yaml, by their names there. They open nothing but the suite's own servers; the
 * suite looks for them in everything that comes out.
 */
export const SECRETS = {
  CLUSTER_A_TOKEN: "contract-suite-cluster-a-token",
  CLUSTER_A_NEXT_TOKEN: "contract-suite-cluster-a-next-token",
  CLUSTER_A_PATH: "contract-suite-cluster-a-path",
  CLUSTER_A_BASIC: "contract-suite-user:contract-suite-password",
  CLUSTER_B_TOKEN: "contract-suite-cluster-b-token",
  CLUSTER_B_PATH: "contract-suite-cluster-b-path",
} as const;

/** The headers of a bearer token. */
export function bearer(token: string): { Authorization: string } {
  return { Authorization: `Bearer ${token}` };
}

/** Cluster-a and cluster-b, as they prove themselves where a test is about something else. */
export const AS_A = bearer(SECRETS.CLUSTER_A_TOKEN);
export const AS_B = bearer(SECRETS.CLUSTER_B_TOKEN);
