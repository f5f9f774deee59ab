/** How much a line matters. */
export type Level = "info" | "warn" | "error";

/** Writes one structured line. Fields never hold a secret, a credential or a URL that may carry one. */
export type Log = (level: Level, message: string, fields?: Readonly<Record<string, unknown>>) => void;
