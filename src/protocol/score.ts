/**
 * The score that goes on the wire for a mean of 0…100: an integer 0…10, rounded, the order never inverted.
 *
 * kube-scheduler reads int64 (`HostPriority.Score`) and documents at most `MaxExtenderPriority` = 10: k8s.io/kube-scheduler
 * `extender/v1/types.go` v0.37.2. Means outside of 0…100 give the nearest end; NaN, where nothing is known, gives 0.
 */
export function extenderScore(mean: number): number {
  if (Number.isNaN(mean)) return 0;
  return Math.min(10, Math.max(0, Math.round(mean / 10)));
}
