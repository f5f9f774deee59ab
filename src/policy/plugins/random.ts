import * as z from "zod";
import { definePlugin } from "../plugin.ts";
import { nodeName, podUid } from "../views/identity.ts";

/** Spreads pods by chance, the same way each time it is asked about a pod. */
export const random = definePlugin({
  name: "Random",
  version: 1,
  doc:
    "Scores nodes by chance, seeded by the pod's UID: a pod is always given the same scores, two pods are not. For " +
    "spreading without a rule, for breaking ties, and as the plainest example of a plugin.",
  maturity: "beta",
  args: z.strictObject({}),
  scale: "none",
  reads: () => ({ pod: { uid: podUid }, node: { name: nodeName } }),
  prepare: (_, { uid }) => ({ score: ({ name }) => hash(`${uid}/${name}`) % 101 }),
});

/** 32-bit FNV-1a, then mixed as murmur3 does, so that names that differ in their last digit land far apart. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    h = Math.imul(h ^ text.charCodeAt(index), 0x01000193);
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
