/** One instruction of a Containerfile. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** One stage: what it is built from, by which instructions. */
export interface Stage {
  readonly from: string;
  /** Its name, where it has one. */
  readonly as: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** Reads a Containerfile without continued lines and without here-documents. */
export function readContainerfile(text: string): Stage[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const stages: { from: string; as: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = "", rest = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    const [, from = "", as] = /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(rest) ?? [];
    if (name === "FROM") stages.push({ from, as, instructions: [] });
    else stages.at(-1)?.instructions.push({ name, text: rest });
  }
  return stages;
}

/** The list of an instruction in its JSON form, such as `ENTRYPOINT ["a", "b"]`. */
export function listOf(stage: Stage, name: string): string[] {
  const found = stage.instructions.find((each) => each.name === name);
  return found ? (JSON.parse(found.text) as string[]) : [];
}
