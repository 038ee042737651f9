import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { createMarkdownStream } from "../src/output/markdown-stream.ts";
import { styleFor } from "../src/output/style.ts";

/** What is on the screen after each piece. */
function stream(pieces: readonly string[], columns = 80): readonly string[] {
  const markdown = createMarkdownStream(styleFor(true), () => columns);
  return [...pieces.map((piece) => markdown.push(piece)), markdown.end()];
}

const render = (text: string, columns?: number): string => stream([text], columns).join("");
const plain = (text: string, columns?: number): string => stripVTControlCharacters(render(text, columns));

describe("Markdown in a terminal", () => {
  test("[U15] headings, emphasis, code and links look like what they are", () => {
    expect(render("## Title")).toBe("\u001b[1mTitle\u001b[22m\n");
    expect(render("a **b** *c* `d` ~~e~~")).toBe(
      "a \u001b[1mb\u001b[22m \u001b[3mc\u001b[23m \u001b[36md\u001b[39m \u001b[9me\u001b[29m\n",
    );
    expect(plain("see [the docs](https://example.com/x)")).toBe("see the docs (https://example.com/x)\n");
    expect(plain("https://example.com and 2 * 3 * 4, snake_case_name, a < b, \\*no\\*")).toBe(
      "https://example.com and 2 * 3 * 4, snake_case_name, a < b, *no*\n",
    );
  });

  test("[U15] lists, quotes, rules and tasks", () => {
    expect(plain("- one\n- two\n  1. deep\n> said\n- [x] done\n- [ ] open\n\n\n\n---\nend")).toBe(
      `• one\n• two\n  1. deep\n│ said\n☑ done\n☐ open\n\n${"─".repeat(40)}\nend\n`,
    );
  });

  test("[U15] code stays as it is, whatever stands in it", () => {
    expect(plain("```ts\nconst a = **1**;\n# no heading\n```\nafter")).toBe(
      "  ts\n  const a = **1**;\n  # no heading\nafter\n",
    );
    expect(plain("````\n```\n````\n*x*")).toBe("  ```\nx\n");
  });

  test("[U15] tables stand in columns, and stay as written where they are too wide", () => {
    const table = "| Name | Size |\n| :-- | --: |\n| **a** | 1 |\n| bcd | 20 |\n";
    expect(plain(table)).toBe("Name │ Size\n─────┼─────\na    │    1\nbcd  │   20\n");
    expect(plain(table, 8)).toBe(table);
    expect(plain("a\n\n| b |\n|---|\n\nc")).toBe("a\n\nb\n─\n\nc\n");
  });

  test("lines are wrapped at words, below the text of their item", () => {
    expect(plain("- one two three four", 12)).toBe("• one two\n  three four\n");
    expect(plain("漢字 漢字 漢字", 10)).toBe("漢字 漢字\n漢字\n");
  });

  test("[U15] words appear as they come, and what is not certain waits", () => {
    expect(stream(["Hello wor", "ld and **bo", "ld** x", "\n"]).map(stripVTControlCharacters)).toEqual([
      "Hello",
      " world and",
      " bold",
      " x\n",
      "",
    ]);
    expect(stream(["#", "# Ti", "tle\n", "-", " item ", "1"]).map(stripVTControlCharacters)).toEqual([
      "",
      "",
      "Title\n",
      "",
      "• item",
      "",
      " 1\n",
    ]);
  });

  test("any cut of a text shows the same in the end", () => {
    const text =
      "# A\n\nSome **bold `x`** and [l](u).\n\n1. a\n2. b_c_d\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n> q *e*\n";
    const whole = render(text);
    for (let size = 1; size < 12; size += 1) {
      const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
      expect(stream(pieces).join("")).toBe(whole);
    }
  });

  test("nothing in it steers the terminal", () => {
    const evil =
      "a \u001b[2J **b\u001b]0;t\u0007** `\u009b31m` [x](\u001b[31mhttp://e)\n| \u001b[A | b |\n|--|--|\n";
    const shown = render(evil).replace(/\u001b\[\d{1,2}m/g, "");
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  test("a long line is shown whole, whatever stands in it", () => {
    for (const part of ["[", "*a ", "**", "`", "![", "<a ", "_x_ ", "~~"]) {
      const text = `x ${part.repeat(20_000).trim()}`;
      const shown = plain(text).replace(/\s/g, "");
      const signs = part === "_x_ " ? text.replaceAll("_", "") : text;
      if (part !== "**" && part !== "~~") expect(shown).toBe(signs.replace(/\s/g, ""));
    }
  });

  test("a sign that never closes is shown at the end of its line, and a long text does not wait for it", () => {
    expect(plain("open ** and `code")).toBe("open ** and `code\n");
    const [first = ""] = stream([`*${"word ".repeat(200)}`]);
    expect(first.length).toBeGreaterThan(500);
  });
});
