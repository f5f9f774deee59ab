import type { AnyPlugin } from "../../src/policy/plugin.ts";
import { registry } from "../../src/policy/registry.ts";
import { nearPartner } from "./near-partner.ts";

/** Berth's plugins and one of one's own. */
export const plugins: readonly AnyPlugin[] = [...registry, nearPartner];
