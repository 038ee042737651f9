/** Documents without code and comments are read without the grammar, with the same result. */
import { describe, expect, test } from "vitest";
import { loadMarkdown, type MarkdownParts, takePlain } from "../src/markdown.ts";
import { SCAN_LIMITS } from "../src/scanned-skill.ts";

async function withGrammar(text: string): Promise<MarkdownParts | undefined> {
  return (await loadMarkdown(SCAN_LIMITS))(text);
}

const PIECES = [
  ..."#### # ## ###### ####### #\t #x x# > >> - * + 1. 2) --- === *** <div> [a](b) [a]: ![c] word two".split(
    " ",
  ),
  ..."| : \\ ~ ~~ <! -- > \t \r \u00a0 \f".split(" "),
  ...["\n", "\n", "\n", "\n\n", "\n\n", " ", " ", "  ", "    ", "\t", "\0", "a longer sentence, with words."],
];

/** The same number gives the same texts. */
function* generateTexts(count: number): Iterable<string> {
  let state = 7;
  const below = (most: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  for (let made = 0; made < count; made++)
    yield Array.from({ length: 1 + below(30) }, () => PIECES[below(PIECES.length)]).join("");
}

describe("a document without code and comments", () => {
  test("gives the same parts with and without the grammar", async () => {
    let plain = 0;
    for (const text of generateTexts(20_000)) {
      const parts = takePlain(text);
      if (parts === undefined) continue;
      plain++;
      expect(parts, JSON.stringify(text)).toEqual(await withGrammar(text));
    }
    expect(plain).toBeGreaterThan(1000);
  });

  test.each([
    ["after a list", "- one\n# Heading\ntext"],
    ["after a quotation", "> one\n# Heading\ntext"],
    ["after a paragraph", "one\n## Heading ##\n  two"],
    ["that is no heading", "#one\n####### two\n #"],
    ["without a line after it", "one\n#"],
  ])("has a heading %s", async (_, text) => {
    expect(takePlain(text) ?? (await withGrammar(text))).toEqual(await withGrammar(text));
  });

  test.each([
    ["with code", "Run `ls`."],
    ["with a block", "~~~\n# no heading\n~~~"],
    ["with a comment", "<!--\n# no heading\n-->"],
    ["with a heading in a list", "- # Heading"],
    ["with a heading in a quotation", "> 1. # Heading"],
    ["with a line that the grammar splits", "word ".repeat(4000)],
  ])("is left to the grammar %s", (_, text) => {
    expect(takePlain(text)).toBeUndefined();
  });
});
