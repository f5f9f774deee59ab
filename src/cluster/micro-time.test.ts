import * as fc from "fast-check";
import { expect, it } from "vitest";
import { microTime } from "./micro-time.ts";

it("a MicroTime has exactly six digits after the second, whatever the moment (client-js #828)", async () => {
  await fc.assert(
    fc.property(fc.double({ min: 0, max: Date.UTC(2200, 0), noNaN: true }), (ms) => {
      expect(microTime(ms)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      expect(Math.abs(Date.parse(microTime(ms)) - ms)).toBeLessThanOrEqual(1);
    }),
  );
});

it("a MicroTime keeps fractions of a millisecond", () => {
  expect(microTime(1_700_000_000_123.456)).toBe("2023-11-14T22:13:20.123456Z");
  expect(microTime(0)).toBe("1970-01-01T00:00:00.000000Z");
});
