// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders look like that
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { readArguments, splitArguments, substituteArguments } from "../../src/invoke/render-body.ts";

function fill(body: string, line?: string, names?: readonly string[], directory?: string): string {
  return substituteArguments(body, readArguments(line, names, directory));
}

describe("splitting", () => {
  verifies([131, "case 58"], "follows the quotes of a shell", () => {
    expect(splitArguments("")).toEqual([]);
    expect(splitArguments(" \t ")).toEqual([]);
    expect(splitArguments("one")).toEqual(["one"]);
    expect(splitArguments("  one\ttwo   three ")).toEqual(["one", "two", "three"]);
    expect(splitArguments(`"hello world" other`)).toEqual(["hello world", "other"]);
    expect(splitArguments("'hello world' other")).toEqual(["hello world", "other"]);
    expect(splitArguments(`"a 'b' c" 'd "e" f'`)).toEqual(["a 'b' c", 'd "e" f']);
    expect(splitArguments(String.raw`"say \"hi\"" back\\slash`)).toEqual(['say "hi"', "back\\slash"]);
    expect(splitArguments(String.raw`"C:\dir\file" '\n'`)).toEqual(["C:\\dir\\file", "\\n"]);
    expect(splitArguments(`"" x ''`)).toEqual(["", "x", ""]);
    expect(splitArguments(String.raw`my\ file.txt "/a b/c.txt"`)).toEqual(["my file.txt", "/a b/c.txt"]);
    expect(splitArguments(`pre"mid dle"post`)).toEqual(["premid dlepost"]);
    expect(splitArguments("a\nb")).toEqual(["a", "b"]);
  });

  verifies("case 58", "falls back to blanks where a quote is not closed", () => {
    expect(splitArguments(`it's a "test`)).toEqual(["it's", "a", '"test']);
    expect(splitArguments("end\\")).toEqual(["end\\"]);
  });

  test("runs nothing and expands nothing", () => {
    expect(splitArguments("$HOME *.md; `id` a|b > c")).toEqual(["$HOME", "*.md;", "`id`", "a|b", ">", "c"]);
  });
});

describe("all arguments", () => {
  verifies([127, "case 59"], "stand where `$ARGUMENTS` stands, once or more, as they were typed", () => {
    expect(fill("Review $ARGUMENTS now.", "a.ts")).toBe("Review a.ts now.");
    expect(fill("$ARGUMENTS\n- $ARGUMENTS\n", `"hello world" x`)).toBe(
      '"hello world" x\n- "hello world" x\n',
    );
    expect(fill("($ARGUMENTS)", "a\nb")).toBe("(a\nb)");
    expect(fill("[$ARGUMENTS]", "")).toBe("[]");
    expect(fill("[$ARGUMENTS]", "  ")).toBe("[]");
  });
});

describe("single arguments", () => {
  verifies([127, 130, "case 60"], "stand where `$N` stands, counted from 0; a missing one is empty", () => {
    expect(fill("From $0 to $1", "x y")).toBe("From x to y");
    expect(fill("$0\nthen $1", "x y")).toBe("x\nthen y");
    expect(fill("[$0][$2]", "x")).toBe("[x][]");
    expect(fill("$0|$1", `"hello world" other`)).toBe("hello world|other");
  });

  verifies([127, 128, "case 61"], "stand where `$ARGUMENTS[N]` stands, also beside `$ARGUMENTS`", () => {
    expect(fill("$ARGUMENTS[0]-$ARGUMENTS[1]", "x y")).toBe("x-y");
    expect(fill("[$ARGUMENTS[5]]", "x")).toBe("[]");
    expect(fill("[$ARGUMENTS[9]]", "a b c d e f g h i j")).toBe("[j]");
    expect(fill("$ARGUMENTS[1] of $ARGUMENTS", "x y")).toBe("y of x y");
    expect(fill("[$ARGUMENTS[0]]", "")).toBe("[]");
  });

  test("stand where the names stand that the skill gives them", () => {
    expect(fill("$file: $line", "a.ts 7", ["file", "line"])).toBe("a.ts: 7");
    expect(fill("$file-name $file", "a b", ["file", "file-name"])).toBe("b a");
    expect(fill("[$line]", "a.ts", ["file", "line"])).toBe("[]");
    expect(fill("[$file] $files $FILE", "", ["file"])).toBe("[] $files $FILE");
  });
});

describe("without a placeholder", () => {
  verifies([129, "case 62"], "the arguments are appended, and blank ones are not", () => {
    expect(fill("Do it.", "x")).toBe("Do it.\n\nARGUMENTS: x\n");
    expect(fill("Do it.\n\n", `"a b" c`)).toBe('Do it.\n\nARGUMENTS: "a b" c\n');
    expect(fill("", "x")).toBe("\n\nARGUMENTS: x\n");
    expect(fill("Do it.", "   ")).toBe("Do it.");
    expect(fill("Do it.\n")).toBe("Do it.\n");
    expect(fill("See ${METIER_SKILL_DIR}.", "x", [], "/s")).toBe("See /s.\n\nARGUMENTS: x\n");
  });
});

describe("the body's own dollar signs", () => {
  verifies("case 63", "other variables stay as they are", () => {
    const body = "echo $VARIABLE $HOME ${PATH} $ARGUMENTSX $_ $$ $( date )";
    expect(fill(body, "x")).toBe(`${body}\n\nARGUMENTS: x\n`);
  });

  verifies("case 64", "`$N` stays as it is when no arguments are given", () => {
    const body = "awk '{print $1}' costs $100 or $5.00\n```sh\necho $0 $1\n```";
    expect(fill(body)).toBe(body);
    expect(fill(body, " ")).toBe(body);
  });

  verifies("case 64", "amounts and longer numbers stay as they are when arguments are given", () => {
    expect(fill("$0 costs $100, $5.00, $1,000 or $5k", "tea")).toBe("tea costs $100, $5.00, $1,000 or $5k");
    expect(fill("Use $0. Then $1, then $2", "a b c")).toBe("Use a. Then b, then c");
  });

  verifies("case 64", "a backslash keeps a placeholder as it is written", () => {
    expect(fill(String.raw`\$1 \$ARGUMENTS \$ARGUMENTS[0] $0`, "x y")).toBe("$1 $ARGUMENTS $ARGUMENTS[0] x");
    expect(fill(String.raw`\$1`)).toBe("$1");
    expect(fill(String.raw`grep 'end\$' \$HOME`)).toBe(String.raw`grep 'end\$' \$HOME`);
  });

  verifies("case 64", "fenced code is filled like any other text", () => {
    expect(fill("```sh\ncat $0\n```", "a.txt")).toBe("```sh\ncat a.txt\n```");
  });

  verifies("case 64", "what was put in is never looked at again", () => {
    expect(fill("All: $ARGUMENTS", "x $0")).toBe("All: x $0");
    expect(fill("$0 $1", "'$1' '$ARGUMENTS'")).toBe("$1 $ARGUMENTS");
    expect(fill("$0", "'$&$`' ")).toBe("$&$`");
    expect(fill("$0", "'${METIER_SKILL_DIR}'", [], "/s")).toBe("${METIER_SKILL_DIR}");
  });
});

test("both names of the skill's folder are known; without a folder they stay", () => {
  expect(fill("${METIER_SKILL_DIR}/a ${CLAUDE_SKILL_DIR}/b", "", [], "/skills/x")).toBe(
    "/skills/x/a /skills/x/b",
  );
  expect(fill("${CLAUDE_SKILL_DIR}/a")).toBe("${CLAUDE_SKILL_DIR}/a");
});

describe("for every body and every line", () => {
  const word = fc.string({ unit: fc.constantFrom("$", "0", "1", "A", "[", "]", "\\", "'", '"', " ", "x") });
  const hostile = fc
    .array(
      fc.oneof(
        word,
        fc.constantFrom("$ARGUMENTS", "$ARGUMENTS[0]", "$0", "$1", "\\$0", "${METIER_SKILL_DIR}"),
      ),
    )
    .map((parts) => parts.join(""));

  test("values are put in as they are", () => {
    fc.assert(
      fc.property(hostile, (line) => {
        const values = readArguments(line, [], "/s");
        const { words } = values;
        expect(substituteArguments("<$0><$ARGUMENTS[1]>", values)).toBe(
          values.line === "" ? "<$0><>" : `<${words[0] ?? ""}><${words[1] ?? ""}>`,
        );
        expect(substituteArguments("<$ARGUMENTS>", values)).toBe(`<${values.line}>`);
      }),
    );
  });

  test("a body without a dollar sign is unchanged but for what is appended", () => {
    fc.assert(
      fc.property(fc.string(), hostile, (text, line) => {
        const body = text.replaceAll("$", "");
        const appendix = line.trim() === "" ? "" : `\n\nARGUMENTS: ${line}\n`;
        const start = appendix === "" ? body : body.replace(/\n+$/, "");
        expect(fill(body, line)).toBe(start + appendix);
      }),
    );
  });

  test("splitting loses no character but blanks, quotes and backslashes", () => {
    fc.assert(
      fc.property(hostile, (line) => {
        const bare = (text: string): string => text.replace(/[\s'"\\]/g, "");
        expect(bare(splitArguments(line).join(""))).toBe(bare(line));
      }),
    );
  });

  test("text that almost matches is not read twice", () => {
    const many = 200_000;
    expect(fill("$ARGUMENTS[".repeat(many), "x")).toHaveLength(many * 2);
    expect(fill("\\".repeat(many), "x")).toHaveLength(many + "\n\nARGUMENTS: x\n".length);
    expect(fill(`${"\n".repeat(many)}.`, "x")).toHaveLength(many + 1 + "\n\nARGUMENTS: x\n".length);
    expect(splitArguments(`${" ".repeat(many)}"`.repeat(2))).toHaveLength(1);
    expect(splitArguments("'".repeat(many + 1))).toHaveLength(1);
  });
});
