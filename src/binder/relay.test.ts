import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFunctionSettings } from "./function-settings.ts";
import { startRelay } from "./relay.ts";

test("an authority that cannot be read is told of by its setting and its file, in words, before anybody is asked", async () => {
  const file = join(tmpdir(), "berth-no-such-folder", "ca.crt");
  const read = readFunctionSettings({
    BERTH_FUNCTION_URL: "https://berth.example.com",
    BERTH_FUNCTION_PROFILES: "main",
    BERTH_FUNCTION_TOKEN: "a-secret-of-many-letters",
    BERTH_FUNCTION_CA: file,
  });
  if (!("value" in read) || !read.value) throw new Error("refused");
  await expect(startRelay(read.value, () => undefined)).rejects.toThrow(
    `BERTH_FUNCTION_CA names ${file}, which cannot be read: there is no such file; ` +
      "it has to be the authority of the function's certificate, in PEM",
  );
});
