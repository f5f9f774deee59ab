import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isTestSentence } from "./sentences.ts";

const docs = join(import.meta.dirname, "../../docs");
const page = readFileSync(join(docs, "behind-the-scheduler.md"), "utf8");

describe("docs/behind-the-scheduler.md", () => {
  it("names tests that there are", () => {
    const named = [...page.matchAll(/(?<!\*)\*([^*]+)\*(?!\*)/g)].map(([, text = ""]) => text).filter(isLong);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((sentence) => !isTestSentence(sentence))).toEqual([]);
  });

  it("links to files and headings that there are", () => {
    const links = [...page.matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, link = ""]) => link);
    const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => `#${anchor(title)}`);
    const isThere = (link: string): boolean =>
      link.startsWith("#") ? headings.includes(link) : existsSync(join(docs, link));
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((link) => !isThere(link))).toEqual([]);
  });
});

/** Single words in italics are emphasis. */
function isLong(text: string): boolean {
  return text.split(/\s+/).length > 2;
}

/** As GitHub makes it. */
function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(" ", "-");
}
