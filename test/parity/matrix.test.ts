import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { field, type JsonObject } from "../../src/protocol/json.ts";
import { hasRealData, realDataFolder, realObjects } from "../realdata.ts";
import { weJudge } from "./ours.ts";

const JUDGES = ["TaintToleration", "NodeUnschedulable", "NodeAffinity", "NodeResourcesFit"];
const pods = realObjects("pods");
const nodes = realObjects("nodes");

/** Verdicts of kube-scheduler 1.37.2 on real pods and real, empty nodes. */
const rows = hasRealData ? readFileSync(new URL("MATRIX.tsv", realDataFolder), "utf8").trim().split("\n").slice(1) : [];

describe.runIf(hasRealData)("a real pod on a real node", () => {
  test("of which there are as many as the table says", () => {
    expect(rows).toHaveLength(290);
  });

  test.each(rows)("is judged as kube-scheduler judges: %s", (row) => {
    const [podFile = "", podName = "", nodeFile = "", nodeName = "", verdict, reasons = ""] = row.split("\t");
    const pod = find(pods, podFile, podName);
    const node = find(nodes, nodeFile, nodeName);
    const judged = weJudge({ pod, pods: [], nodes: [node] });
    const given = JUDGES.flatMap((plugin) => judged[plugin]?.refusals[nodeName]?.reasons ?? []);
    expect(given.length === 0 ? "fits" : "no").toBe(verdict);
    expect([...new Set(given)].sort()).toEqual([...new Set(reasons.split("; ").flatMap(inFull))].sort());
  });
});

function find(objects: typeof pods, file: string, name: string): JsonObject {
  const found = objects.find(
    (each) => each.file.startsWith(file) && field(field(each.object, "metadata"), "name") === name,
  );
  if (!found) throw new Error(`there is no ${name} in ${file}`);
  return found.object;
}

/** The table's short reasons in kube-scheduler's own words. */
function inFull(short: string): string[] {
  if (short === "") return [];
  if (short.startsWith("taint ")) return ["node(s) had untolerated taint(s)"];
  if (short === "affinity/selector") return ["node(s) didn't match Pod's node affinity/selector"];
  return [short.replace(/\(.*/, "")];
}
