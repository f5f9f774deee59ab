import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admission } from "./admission.ts";
import { conformance } from "./conformance.ts";
import { connections } from "./connections.ts";
import { decisions } from "./decisions.ts";
import { evaluation } from "./evaluation.ts";
import { malformed } from "./malformed.ts";
import { observation } from "./observation.ts";
import { quantities } from "./quantities.ts";
import { SECRETS } from "./secrets.ts";
import { sizes } from "./sizes.ts";
import type { Abilities, Start } from "./target.ts";
import { type Witness, witness as watch } from "./witness.ts";

/** What the function promises on every runtime. */
export function contractSuite(runtime: string, start: Start, abilities: Abilities): void {
  describe(`the function ${runtime}`, () => {
    let watched: Witness;
    const witness = () => watched;
    beforeAll(async () => {
      watched = watch(await start({ secrets: SECRETS }));
    }, 60_000);
    afterAll(() => watched?.target.stop());

    decisions(witness);
    malformed(witness);
    quantities(witness);
    admission(witness, start, abilities);
    observation(witness, start);
    evaluation(witness);
    conformance(witness);
    sizes(witness, abilities);
    if (abilities.connections) connections(witness);

    // Last, because it looks back at everything above.
    it("has shown no secret and no stack trace in any answer or log line", () => {
      expect(watched.lines().length).toBeGreaterThan(100);
      expect(watched.leaks()).toEqual([]);
    });
  });
}
