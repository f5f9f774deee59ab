import compiled from "#policy";
import { createWorker } from "../../src/adapters/worker.ts";
import { plugins } from "./plugins.ts";

/** The function on Cloudflare Workers, with a plugin of one's own. */
export default createWorker(compiled, plugins);
