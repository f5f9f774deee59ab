import { existsSync, readdirSync, readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { field, isObject, type Json, type JsonObject } from "../src/protocol/json.ts";

/** Where the collection of real objects lies: beside the repository. */
export const realDataFolder = new URL("../../shared/realdata/", import.meta.url);

/** True where it does. */
export const hasRealData = existsSync(realDataFolder);

if (!hasRealData) {
  process.stderr.write(`skipped: tests on objects of real clusters, which would lie in ${realDataFolder.pathname}\n`);
}

/** An object of a real cluster and the file that it was found in. */
export interface RealObject {
  readonly file: string;
  readonly object: JsonObject;
}

/** All real nodes or pods: JSON or YAML, single, in lists, or several documents in a file. None without the files. */
export function realObjects(kind: "nodes" | "pods"): readonly RealObject[] {
  if (!hasRealData) return [];
  return readdirSync(new URL(`${kind}/`, realDataFolder))
    .sort()
    .flatMap((file) =>
      readFile(kind, file)
        .filter(isObject)
        .map((object) => ({ file, object })),
    );
}

function readFile(kind: string, file: string): readonly Json[] {
  const text = readFileSync(new URL(`${kind}/${file}`, realDataFolder), "utf8");
  const documents = file.endsWith(".json") ? [JSON.parse(text)] : parseAllDocuments(text).map((each) => each.toJS());
  return documents.flatMap((document: Json) => {
    const items = field(document, "items");
    return Array.isArray(items) ? items : [document];
  });
}
