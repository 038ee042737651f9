import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { replaceText } from "../../../src/tools/files/file-tools.ts";
import { smallWorld } from "./small-world.ts";

const SOURCE = "function one() {\n  return 1;\n}\n\nfunction two() {\n  return 2;\n}\n";

describe("edit_file", () => {
  test("replaces a text that stands in the file once", async () => {
    const { project, text } = smallWorld({ "a.ts": SOURCE });
    const edit = { path: "a.ts", old_string: "return 2;", new_string: "return $& + 3;" };
    expect(await text("edit_file", edit)).toBe("Replaced 1 occurrence in `a.ts`.");
    expect(readFileSync(join(project, "a.ts"), "utf8")).toBe(SOURCE.replace("2", () => "$& + 3"));
  });

  test("replaces every occurrence when asked to", async () => {
    const { project, text } = smallWorld({ "a.ts": SOURCE });
    const edit = { path: "a.ts", old_string: "function", new_string: "fn", replace_all: true };
    expect(await text("edit_file", edit)).toBe("Replaced 2 occurrences in `a.ts`.");
    expect(readFileSync(join(project, "a.ts"), "utf8")).toBe(SOURCE.replaceAll("function", "fn"));
  });

  test("takes plain line ends for those of the file, and keeps the mark at its beginning", async () => {
    const { project, text } = smallWorld({ "a.txt": "\ufeffone\r\ntwo\r\nthree\r\n" });
    await text("edit_file", { path: "a.txt", old_string: "one\ntwo", new_string: "1\n2\n2b" });
    await text("edit_file", { path: "a.txt", old_string: "three", new_string: "3\n4" });
    expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("\ufeff1\r\n2\r\n2b\r\n3\r\n4\r\n");
  });

  test.each([
    [
      "a text that is there several times, with the count",
      "return",
      "is in it 2 times. Give more of the lines",
    ],
    ["a text that overlaps itself", "\n\n\n", "is in it 2 times"],
    [
      "a text that differs in blanks, naming the line",
      "    return 2;",
      'Line 6 differs in its blanks only: "  return 2;"',
    ],
    ["a text with another word, naming the line", "function three() {", "The nearest line is 1: "],
    [
      "a text whose later lines differ",
      "function two() {\n  return 3;",
      "Its first line is line 5, but the text does not go on",
    ],
    [
      "a text like nothing in the file",
      "completely unrelated",
      "No line of it is like the first of `old_string`.",
    ],
  ])("refuses %s, and leaves the file alone", async (_, old, message) => {
    const content = `${SOURCE}\n\n\n\n`;
    const { project, call } = smallWorld({ "a.ts": content });
    const { text, isError } = await call("edit_file", { path: "a.ts", old_string: old, new_string: "x" });
    expect(isError).toBe(true);
    expect(text).toContain("`a.ts` was not changed: `old_string` is");
    expect(text).toContain(message);
    expect(readFileSync(join(project, "a.ts"), "utf8")).toBe(content);
  });

  test("counts a text in both kinds of line ends, since they look the same", async () => {
    const { project, call, text } = smallWorld({ "a.txt": "one\ntwo\none\r\ntwo\r\n" });
    const edit = { path: "a.txt", old_string: "one\ntwo", new_string: "1\n2" };
    expect((await call("edit_file", edit)).text).toContain("is in it 2 times");
    expect(await text("edit_file", { ...edit, replace_all: true })).toBe(
      "Replaced 2 occurrences in `a.txt`.",
    );
    expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("1\n2\n1\r\n2\r\n");
  });

  test("refuses to replace a text by itself", async () => {
    const { call } = smallWorld({ "a.ts": SOURCE });
    const { text } = await call("edit_file", { path: "a.ts", old_string: "one", new_string: "one" });
    expect(text).toBe("`a.ts` was not changed: `old_string` and `new_string` are the same.");
  });

  test("refuses a file that is not UTF-8, which an edit would damage", async () => {
    const bytes = Buffer.from("caf\xe9 one", "latin1");
    const { project, call } = smallWorld({ "a.txt": bytes });
    const { text, isError } = await call("edit_file", {
      path: "a.txt",
      old_string: "one",
      new_string: "two",
    });
    expect(isError).toBe(true);
    expect(text).toContain("is not UTF-8 text");
    expect(readFileSync(join(project, "a.txt"))).toEqual(bytes);
  });

  test.each(["missing.txt", "masked/a.txt", "protected/a.txt", "../outside.txt", ".env"])(
    "refuses `%s`",
    async (path) => {
      const { root, call } = smallWorld({ "masked/a.txt": "one", "protected/a.txt": "one", ".env": "one" });
      const { isError } = await call("edit_file", { path, old_string: "one", new_string: "two" });
      expect(isError).toBe(true);
      if (path === "protected/a.txt") expect(readFileSync(join(root, "project", path), "utf8")).toBe("one");
    },
  );
});

describe("replacing a text", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r\n", "$&", "é") });
  const some = fc.string({ unit: fc.constantFrom("a", "b", "\n", "é"), minLength: 1, maxLength: 3 });

  test("changes nothing before and behind it", () => {
    fc.assert(
      fc.property(text, some, text, text, (before, old, after, next) => {
        const whole = before + old + after;
        const replaced = replaceText(whole, { old_string: old, new_string: next });
        if (!replaced.ok) return;
        const crlf = old.replaceAll("\n", "\r\n");
        const at = Math.max(whole.indexOf(old), whole.indexOf(crlf));
        const length = whole.startsWith(old, at) ? old.length : crlf.length;
        expect(replaced.value.text.startsWith(whole.slice(0, at))).toBe(true);
        expect(replaced.value.text.endsWith(whole.slice(at + length))).toBe(true);
      }),
    );
  });

  test("is refused where two forms of it overlap, and not where one stands within the other", () => {
    expect(replaceText("a\r\na\na", { old_string: "a\na", new_string: "" }).ok).toBe(false);
    expect(replaceText("a\r\nb", { old_string: "\n", new_string: " " })).toMatchObject({
      ok: true,
      value: { text: "a b" },
    });
  });

  test("of all occurrences is what a person would do by hand, one after the other", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("x", "y\n", "é")), (parts) => {
        const replaced = replaceText(parts.join("OLD"), {
          old_string: "OLD",
          new_string: "NEW",
          replace_all: true,
        });
        if (parts.length < 2) expect(replaced.ok).toBe(false);
        else
          expect(replaced).toEqual({ ok: true, value: { text: parts.join("NEW"), count: parts.length - 1 } });
      }),
    );
  });

  test("ends for texts that are made to be compared for long", () => {
    const whole = "a".repeat(2_000_000);
    const old = "a".repeat(100_000);
    expect(replaceText(whole, { old_string: `${old}b`, new_string: "" })).toMatchObject({ ok: false });
    expect(replaceText(whole, { old_string: `b${old}`, new_string: "" })).toMatchObject({ ok: false });
    expect(replaceText(whole, { old_string: old, new_string: "" })).toHaveProperty(
      "refusal",
      expect.stringContaining("20 times"),
    );
  });
});
