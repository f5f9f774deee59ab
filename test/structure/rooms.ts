import { roomOf, type Source } from "./sources.ts";

/**
 * The rooms and what each may import beside itself, directly; what those may import it may too. An entry may be a
 * single file. `all` stands for every room.
 */
export const ROOMS: Readonly<Record<string, readonly string[] | "all">> = {
  protocol: [],
  policy: ["protocol"],
  extender: ["policy"],
  adapters: ["extender"],
  remote: ["policy"],
  placement: ["policy"],
  cluster: ["remote", "placement"],
  // The binder listens as the function does on Node.
  binder: ["extender", "remote", "placement", "cluster", "adapters/listener.ts"],
  scheduler: ["remote", "placement", "cluster"],
  cli: "all",
};

/** The packages of rooms that have to run anywhere; a file of its own may need one more. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  protocol: ["zod"],
  policy: ["zod"],
  "policy/source.ts": ["yaml"],
  extender: ["hono", "zod"],
};

/** The one room that knows a package. */
export const KNOWN_ONLY_IN: Readonly<Record<string, string>> = { "@kubernetes/client-node": "cluster" };

/** Imports that go against the table, a sentence each. */
export function violations(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    source.imports.flatMap((imported) =>
      ("file" in imported ? fileAllowed(source.path, imported.file) : packageAllowed(source.path, imported.package))
        ? []
        : [`${source.path} may not import ${"file" in imported ? imported.file : imported.package}`],
    ),
  );
}

function fileAllowed(path: string, imported: string): boolean {
  const [from, to] = [roomOf(path), roomOf(imported)];
  const allowed = reach(from);
  if (allowed === "all") return Object.hasOwn(ROOMS, to);
  return from === to || allowed.has(to) || allowed.has(imported);
}

/** Everything that a room may import. A room that the table lacks may import nothing. */
function reach(room: string): ReadonlySet<string> | "all" {
  const direct = ROOMS[room] ?? [];
  if (direct === "all") return "all";
  const further = direct.flatMap((each) => [...(Object.hasOwn(ROOMS, each) ? reach(each) : [])]);
  return new Set([...direct, ...further]);
}

function packageAllowed(path: string, name: string): boolean {
  const room = roomOf(path);
  if ((KNOWN_ONLY_IN[name] ?? room) !== room) return false;
  const listed = PACKAGES[room];
  return listed === undefined || listed.includes(name) || (PACKAGES[path] ?? []).includes(name);
}

/** Rings of imports, each as the files on the way round. */
export function cycles(sources: readonly Source[]): string[] {
  const graph = new Map(
    sources.map(({ path, imports }) => [path, imports.flatMap((each) => ("file" in each ? [each.file] : []))]),
  );
  const found: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push([...trail.slice(start), path].join(" → "));
    if (start >= 0 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return found;
}
