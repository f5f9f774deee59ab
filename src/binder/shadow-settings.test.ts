import { describe, expect, test } from "vitest";
import { readShadowSettings } from "./shadow-settings.ts";

const FUNCTION = { BERTH_FUNCTION_URL: "https://berth.example.com", BERTH_FUNCTION_PROFILES: "default,gpu" };

describe("The settings of a shadow", () => {
  test("are none unless a profile or a function is named", () => {
    expect(readShadowSettings(FUNCTION)).toEqual({ value: undefined });
  });

  test("pair profiles of this binder", () => {
    expect(readShadowSettings({ BERTH_SHADOW_PROFILE: "default=trial, gpu=gpu-2" })).toEqual({
      value: {
        profiles: new Map([
          ["default", "trial"],
          ["gpu", "gpu-2"],
        ]),
      },
    });
  });

  test("pair each profile with its namesake of another function, with a token of its own and the same authority", () => {
    const read = readShadowSettings({
      ...FUNCTION,
      BERTH_FUNCTION_TOKEN: "one",
      BERTH_FUNCTION_CA: "/ca.crt",
      BERTH_SHADOW_URL: "https://next.example.com",
      BERTH_SHADOW_TOKEN: "two",
    });
    if ("problems" in read || !read.value?.function) throw new Error("the settings make sense");
    const { url, caFile, profiles, token } = read.value.function;
    expect({ url, caFile, profiles, token: token() }).toEqual({
      url: "https://next.example.com",
      caFile: "/ca.crt",
      profiles: ["default", "gpu"],
      token: "two",
    });
    expect(read.value.profiles.get("gpu")).toBe("gpu");
  });

  test.each([
    [{ BERTH_SHADOW_PROFILE: "trial" }, 'BERTH_SHADOW_PROFILE must pair profiles, such as gpu=gpu-trial, not "trial"'],
    [
      { ...FUNCTION, BERTH_SHADOW_URL: "https://next.example.com" },
      "BERTH_SHADOW_TOKEN_FILE (or BERTH_SHADOW_TOKEN) is missing: the secret of a bearer credential of the function",
    ],
  ])("that make no sense are refused by name", (env, problem) => {
    expect(readShadowSettings(env)).toEqual({ problems: [problem] });
  });
});
