import compiled from "#policy";
import { registry } from "../policy/registry.ts";
import { createWorker } from "./worker.ts";

/** The function on Cloudflare Workers, with the policy of this folder and Berth's own plugins. */
export default createWorker(compiled, registry);
