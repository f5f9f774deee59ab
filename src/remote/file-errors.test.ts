import { expect, test } from "vitest";
import { whyUnread, whyUnwritten } from "./file-errors.ts";

const failed = (code: string) => Object.assign(new Error(`${code}: a message of the system`), { code });

test.each([
  ["ENOENT", "there is no such file"],
  ["EACCES", "this user may not read it"],
  ["ENOTDIR", "its path leads through a file"],
  ["EIO", "the system answered EIO"],
])("a file that cannot be read is told of in words: %s", (code, words) => {
  expect(whyUnread(failed(code))).toBe(words);
});

test.each([
  ["EACCES", "this user may not read or write there; choose another folder or change its owner"],
  ["EROFS", "the file system is read-only; choose another folder"],
  ["ENOSPC", "the disk is full"],
  ["EIO", "the system answered EIO"],
])("a folder that cannot be written is told of in words, with what to do: %s", (code, words) => {
  expect(whyUnwritten(failed(code))).toBe(words);
});

test("what is no error of the system says what it has to say", () => {
  expect(whyUnread(new Error("it is closed"))).toBe("it is closed");
});
