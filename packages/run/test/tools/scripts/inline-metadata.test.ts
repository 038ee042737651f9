import { describe, expect, test } from "vitest";
import { readInlineMetadata } from "../../../src/tools/scripts/choose-interpreter.ts";

const block = (...lines: readonly string[]): string =>
  ["# /// script", ...lines, "# ///", "print(1)"].join("\n");

describe("inline metadata of a Python script", () => {
  test("says which Python and which packages it needs", async () => {
    const text = `#!/usr/bin/env python3\n"""Docs."""\n${block(
      '# requires-python = ">=3.11"',
      "# dependencies = [",
      '#   "requests<3",',
      '#   "rich",',
      "# ]",
      "#",
      "# [tool.other]",
      "# x = 1",
    )}`;
    expect(await readInlineMetadata(text)).toEqual({
      ok: true,
      value: { requiresPython: ">=3.11", dependencies: ["requests<3", "rich"] },
    });
    expect(await readInlineMetadata(text.replaceAll("\n", "\r\n"))).toEqual(await readInlineMetadata(text));
  });

  test("is nothing without a block, in a block of another type, and in one that is not closed", async () => {
    for (const text of [
      "print(1)",
      "# /// other\n# dependencies = []\n# ///",
      '# /// script\n# dependencies = ["x"]\nprint(1)\n# ///',
      '#/// script\n# dependencies = ["x"]\n# ///',
      ' # /// script\n# dependencies = ["x"]\n# ///',
    ]) {
      expect(await readInlineMetadata(text), text).toEqual({ ok: true });
    }
    expect(await readInlineMetadata(block())).toEqual({ ok: true, value: { dependencies: [] } });
  });

  test("ends at the last closing line of the comment", async () => {
    const text = block('# dependencies = ["a"]', "# text = '''", "# ///", "# '''");
    expect(await readInlineMetadata(text)).toEqual({ ok: true, value: { dependencies: ["a"] } });
  });

  test.each([
    [`${block()}\n${block()}`, "more than one"],
    [block("# dependencies = ["), "not valid TOML"],
    [block('# dependencies = "requests"'), "`dependencies` must be a list of strings"],
    [block("# dependencies = [1]"), "`dependencies` must be a list of strings"],
    [block("# requires-python = 3.11"), "`requires-python` must be a string"],
    [block(`# dependencies = [${'"a",'.repeat(201)}]`), "the limit is 200"],
    [block(...Array<string>(1001).fill("#")), "more than 1000 lines"],
  ])("is refused when it cannot be meant: %#", async (text, message) => {
    expect(await readInlineMetadata(text)).toEqual({ ok: false, refusal: expect.stringContaining(message) });
  });

  test("is found in time that grows with the text alone", async () => {
    const text = `# /// script\n${"# x\n".repeat(50_000)}`.repeat(2);
    expect(await readInlineMetadata(text)).toEqual({ ok: true });
    expect(await readInlineMetadata("# /// script\n".repeat(20_000))).toEqual({ ok: true });
  });
});
