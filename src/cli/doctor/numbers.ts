/** The value below which a share of the values lies: nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** Bytes for people: `13.5 kB`, `5.7 MB`. */
export function shownBytes(bytes: number): string {
  return bytes < 1e6 ? `${Number((bytes / 1e3).toPrecision(3))} kB` : `${Number((bytes / 1e6).toPrecision(3))} MB`;
}
