/** Asks about each value once and remembers the answer, for as long as one decision takes. */
export function eachOnce<K, T>(ask: (value: K) => T): (value: K) => T {
  const known = new Map<K, T>();
  return (value) => {
    const remembered = known.get(value);
    if (remembered !== undefined || known.has(value)) return remembered as T;
    const told = ask(value);
    known.set(value, told);
    return told;
  };
}
