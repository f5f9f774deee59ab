import { describe, expect, it } from "vitest";
import { generated } from "./generated.ts";

describe("what is generated from the code", () => {
  it("says what the code says; `npm run docs` writes it anew", async () => {
    for (const { path, current, wanted } of await generated()) expect(current, path).toBe(wanted);
  });
});
