import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Severity } from "../../src/cli/check/finding.ts";

const folder = join(import.meta.dirname, "configs");

/** A broken configuration of `configs/`, with what its own comments say of it. */
export interface Broken {
  readonly name: string;
  readonly text: string;
  /** What stands behind `# finds:` on a line. */
  readonly expected: readonly { readonly line: number; readonly severity: Severity; readonly rule: string }[];
  /** What kube-scheduler says when it refuses the file; undefined when it starts with it. */
  readonly refused: string | undefined;
  /** Where it starts all the same: the test that shows the damage, or why there is none. */
  readonly damage: string | undefined;
}

/** Reads all of them, with paths and certificates in place of `__NAME__`. */
export function brokenConfigs(values: Readonly<Record<string, string>>): Broken[] {
  return readdirSync(folder).map((name) => {
    const raw = readFileSync(join(folder, name), "utf8");
    const text = raw.replace(/__([A-Z]+)__/g, (_, key: string) => values[key] ?? "");
    const expected = text.split("\n").flatMap((content, index) =>
      [...content.matchAll(/finds: (\w+) ([\w-]+)/g)].map(([, severity, rule]) => ({
        line: index + 1,
        severity: severity as Severity,
        rule: rule ?? "",
      })),
    );
    const refused = /^# refused: (.*)$/m.exec(text)?.[1];
    return { name, text, expected, refused, damage: /^# starts; damage: (.*)$/m.exec(text)?.[1] };
  });
}
