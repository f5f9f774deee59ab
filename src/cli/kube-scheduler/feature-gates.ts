/** What Go takes for a boolean, and kube-scheduler with it. */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...{ "1": true, t: true, T: true, true: true, TRUE: true, True: true },
  ...{ "0": false, f: false, F: false, false: false, FALSE: false, False: false },
};

/** Reads what `--feature-gates` takes: `A=true,B=false`, or `kube:A=true`. What {@link gatesProblem} tells of is left out. */
export function parseGates(text: string | undefined): Map<string, boolean> {
  return new Map(
    pairsOf(text ?? "").flatMap(({ name, value }) => {
      const on = BOOLEANS[value ?? ""];
      return name === "" || on === undefined ? [] : [[name, on] as const];
    }),
  );
}

/**
 * Why kube-scheduler would not start with this `--feature-gates`, in its own words and with what to write; undefined
 * when it would, as far as that can be known without the list of all gates.
 */
export function gatesProblem(text: string): string | undefined {
  for (const { name, value } of pairsOf(text)) {
    const shape = `Write ${name || "NAME"}=true or ${name || "NAME"}=false.`;
    if (name === "") return `There is no feature gate before =${value ?? ""}. ${shape}`;
    if (value === undefined) return `There is a missing bool value for ${name}. ${shape}`;
    if (BOOLEANS[value] === undefined) return `${name}=${value} has an invalid value. ${shape}`;
  }
  return undefined;
}

interface Pair {
  /** Without the component that owns it. */
  readonly name: string;
  readonly value: string | undefined;
}

function pairsOf(text: string): Pair[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts
    .filter((part) => part !== "")
    .map((part) => {
      const at = part.indexOf("=");
      const name = (at < 0 ? part : part.slice(0, at)).trim().replace(/^kube:/, "");
      return { name, value: at < 0 ? undefined : part.slice(at + 1).trim() };
    });
}
