/**
 * A moment as `metav1.MicroTime` has it in JSON: RFC 3339 in UTC with exactly six digits after the second. With the
 * three digits of `toISOString` the API server refuses Leases and Events with 400 (k8s.io/apimachinery v0.37,
 * pkg/apis/meta/v1/micro_time.go, RFC3339Micro).
 *
 * @param ms milliseconds since 1970; fractions count
 */
export function microTime(ms: number): string {
  const micros = Math.floor(ms * 1000);
  const whole = Math.floor(micros / 1000);
  const rest = String(micros - whole * 1000).padStart(3, "0");
  return new Date(whole).toISOString().replace("Z", `${rest}Z`);
}
