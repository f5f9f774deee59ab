import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What one kube-scheduler sent for one verb, in one form. */
export interface Recording {
  /** Such as `1.34.4`. */
  readonly version: string;
  readonly verb: "filter" | "prioritize";
  /** `nodes`: whole nodes (nodeCacheCapable: false); `names`: node names (true). */
  readonly form: "nodes" | "names";
  /** Byte for byte. */
  readonly body: Buffer;
  /** The path is `/default/<verb>`; the host is a stand-in. */
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly httpVersion: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

/** Everything that `npm run conformance:record` has recorded, oldest version first. */
export function recordings(): Recording[] {
  const versions = readdirSync(import.meta.dirname).filter((name) => /^v\d/.test(name));
  return versions.sort().flatMap((folder) =>
    (["filter", "prioritize"] as const).flatMap((verb) =>
      (["nodes", "names"] as const).map((form) => {
        const file = (suffix: string): string => join(import.meta.dirname, folder, `${verb}.${form}.${suffix}`);
        const request = JSON.parse(readFileSync(file("request.json"), "utf8"));
        return { version: folder.slice(1), verb, form, body: readFileSync(file("json")), request };
      }),
    ),
  );
}
