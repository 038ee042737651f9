import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { splitFrontmatter, splitYamlFile } from "../../src/parse/split-frontmatter.ts";

const YAML = "name: a\ndescription: b\n";

/** What was found wrong, as `code:line`. */
function faultsOf(text: string): readonly string[] {
  return splitFrontmatter(text).faults.map(({ code, line }) => `${code}:${line}`);
}

verifies([5, "case 1"], "frontmatter and body are taken apart at the fences", () => {
  const split = splitFrontmatter(`---\n${YAML}---\n\n# Title\n\nText.\n`);
  expect(split).toMatchObject({ yaml: YAML, yamlLine: 2, body: "# Title\n\nText.", bodyLine: 6, faults: [] });
});

verifies(["case 1", "case 10"], "a body of blanks is no body", () => {
  for (const end of ["", "\n", "\n\n  \n\t\n"]) {
    expect(splitFrontmatter(`---\n${YAML}---${end}`)).toMatchObject({ yaml: YAML, body: "", faults: [] });
  }
});

test("the first line of the body keeps its indentation", () => {
  expect(splitFrontmatter(`---\n${YAML}---\n\n    code\ntext`)).toMatchObject({
    body: "    code\ntext",
    bodyLine: 6,
  });
});

verifies("case 3", "rules in the body are part of it, one or several", () => {
  const body = "One\n\n---\n\nTwo\n\n---\nname: not a key\n---\n\nThree";
  expect(splitFrontmatter(`---\n${YAML}---\n${body}\n`)).toMatchObject({ yaml: YAML, body, faults: [] });
});

test("dashes inside a value or an indented block do not end the frontmatter", () => {
  const yaml = "name: a --- b\ndescription: |\n  one\n  ---\n  two\nx: ----\n";
  expect(splitFrontmatter(`---\n${yaml}---\nBody`)).toMatchObject({ yaml, body: "Body", faults: [] });
});

verifies("case 5", "Windows and old Mac line ends are read as LF", () => {
  for (const lineEnd of ["\r\n", "\r"]) {
    const text = `---\n${YAML}---\n\nOne\nTwo\n`.replaceAll("\n", lineEnd);
    expect(splitFrontmatter(text)).toMatchObject({ yaml: YAML, body: "One\nTwo", bodyLine: 6 });
    expect(faultsOf(text)).toEqual(["file.line-ends:1"]);
  }
});

test("a byte order mark is skipped and reported", () => {
  const text = `\uFEFF---\n${YAML}---\nBody`;
  expect(splitFrontmatter(text)).toMatchObject({ yaml: YAML, body: "Body" });
  expect(faultsOf(text)).toEqual(["file.bom:1"]);
});

verifies("case 6", "blank lines and blanks before the opening fence are tolerated and reported", () => {
  for (const before of ["\n", "  \n\n", "  "]) {
    const text = `${before}---\n${YAML}---\nBody`;
    expect(splitFrontmatter(text)).toMatchObject({ yaml: YAML, body: "Body" });
    expect(faultsOf(text)).toEqual(["frontmatter.leading-blank:1"]);
  }
});

test("a file that is indented as a whole is closed by its indented fence", () => {
  const split = splitFrontmatter("  ---\n  name: a\n  ---\n  Body");
  expect(split).toMatchObject({ yaml: "  name: a\n", body: "  Body" });
});

test("blanks after a fence are tolerated, no-break ones too", () => {
  expect(splitFrontmatter(`--- \t\n${YAML}---\u00a0 \nBody`)).toMatchObject({
    yaml: YAML,
    body: "Body",
    faults: [],
  });
});

test("lines of more than three dashes are no fences", () => {
  expect(splitFrontmatter(`---\n${YAML}-----\n---\nBody`)).toMatchObject({
    yaml: `${YAML}-----\n`,
    body: "Body",
  });
});

describe("repairs", () => {
  test("text on the line of the closing fence begins the body", () => {
    const text = `---\n${YAML}---# Title\n\nText\n\n---\n\nMore`;
    expect(splitFrontmatter(text)).toMatchObject({
      yaml: YAML,
      body: "# Title\n\nText\n\n---\n\nMore",
      bodyLine: 4,
    });
    expect(faultsOf(text)).toEqual(["frontmatter.glued-fence:4"]);
    expect(splitFrontmatter(`---\n${YAML}--- # Title`).body).toBe("# Title");
  });

  test("an empty block before the frontmatter is skipped, with three or four fences", () => {
    for (const before of ["---\n---\n", "---\n\n---\n---\n", "---\n# a comment\n\n---\n\n---\n"]) {
      const text = `${before}${YAML}---\nBody`;
      expect(splitFrontmatter(text)).toMatchObject({ yaml: YAML, body: "Body" });
      expect(faultsOf(text)).toEqual(["frontmatter.stray-fence:1"]);
    }
  });

  test("an empty block before text that is no frontmatter is the frontmatter", () => {
    const split = splitFrontmatter("---\n---\nNote: text\n\n---\nMore");
    expect(split).toMatchObject({ yaml: "", body: "Note: text\n\n---\nMore", faults: [] });
  });

  test("a code fence around the frontmatter is removed", () => {
    const expected = { yaml: YAML, yamlLine: 3, body: "Body" };
    for (const text of [
      `\`\`\`markdown\n---\n${YAML}---\n\`\`\`\n\nBody`,
      `\`\`\`\n---\n${YAML}---\nBody\n\`\`\`\n`,
    ]) {
      expect(splitFrontmatter(text)).toMatchObject(expected);
      expect(faultsOf(text)).toEqual(["frontmatter.code-fence:1"]);
    }
    const bare = splitFrontmatter(`\`\`\`yaml\n${YAML}\`\`\`\nBody`);
    expect(bare).toMatchObject({ ...expected, yamlLine: 2 });
  });

  test("code fences of the body are left alone when the frontmatter is wrapped", () => {
    const text = `\`\`\`md\n---\n${YAML}---\n# T\n\n\`\`\`sh\nls\n\`\`\`\n\nEnd\n\`\`\`\n`;
    expect(splitFrontmatter(text).body).toBe("# T\n\n```sh\nls\n```\n\nEnd");
  });

  test("comments before the frontmatter are skipped", () => {
    const text = `<!-- one -->\n\n<!--\ntwo\n-->\n---\n${YAML}---\nBody`;
    expect(splitFrontmatter(text)).toMatchObject({ yaml: YAML, yamlLine: 7, body: "Body" });
    expect(faultsOf(text)).toEqual(["frontmatter.leading-comment:1"]);
  });

  test("a rule after a comment is no frontmatter", () => {
    expect(faultsOf("<!-- c -->\n---\nText\n---\n")).toEqual(["frontmatter.missing:1"]);
    expect(faultsOf("<!-- never closed\n---\nname: a\n---\n")).toEqual(["frontmatter.missing:1"]);
  });

  test("keys at the beginning of the file count although the opening fence is missing", () => {
    const text = `slug: x\n${YAML}\n---\n\n# Title`;
    expect(splitFrontmatter(text)).toMatchObject({ yaml: `slug: x\n${YAML}`, body: "# Title", bodyLine: 7 });
    expect(faultsOf(text)).toEqual(["frontmatter.no-opening:1"]);
    expect(splitFrontmatter(`${YAML}# Title\nText`).body).toBe("# Title\nText");
    expect(splitFrontmatter(`${YAML}---\n    code`).body).toBe("    code");
  });

  test("two repairs at once are both reported", () => {
    const text = `${YAML}--- # Title`;
    expect(splitFrontmatter(text).body).toBe("# Title");
    expect(faultsOf(text)).toEqual(["frontmatter.no-opening:1", "frontmatter.glued-fence:3"]);
  });

  test("text that begins with a word and a colon is no frontmatter", () => {
    expect(faultsOf("Note: read this\n\nText")).toEqual(["frontmatter.missing:1"]);
  });

  verifies(
    [7, "case 7"],
    "unclosed frontmatter is an error, and ends where its lines stop looking like YAML",
    () => {
      const yaml =
        "# comment\nname: a\ndescription: |\n  text\n\n  more\ntags:\n- one\n- two\nmap: {\n  a: 1\n}\n";
      const text = `---\n${yaml}\n# Title\n\nText: yes\n`;
      const split = splitFrontmatter(text);
      expect(split).toMatchObject({ yaml, body: "# Title\n\nText: yes", bodyLine: 15 });
      expect(split.faults).toMatchObject([{ code: "frontmatter.unclosed", severity: "error", line: 1 }]);
      expect(splitFrontmatter(`---\n${YAML}Just text.`)).toMatchObject({ yaml: YAML, body: "Just text." });
      expect(splitFrontmatter(`---\n${YAML}`)).toMatchObject({ yaml: YAML, body: "" });
    },
  );

  test("line ends that were escaped are read as line ends", () => {
    const text = "---\\nname: a\\ndescription: b\\n---\\n\\n# Title\\nText";
    expect(splitFrontmatter(text)).toMatchObject({ yaml: YAML, body: "# Title\nText" });
    expect(faultsOf(text)).toEqual(["file.escaped-line-ends:1"]);
  });
});

verifies([6, "case 7"], "a file without frontmatter is an error, and its text is the body", () => {
  const split = splitFrontmatter("\n# Title\n\n---\nname: a\n---\n");
  expect(split).toMatchObject({ yaml: undefined, body: "# Title\n\n---\nname: a\n---", bodyLine: 2 });
  expect(split.faults).toMatchObject([{ code: "frontmatter.missing", severity: "error", line: 1 }]);
});

test("an empty file is said to be empty", () => {
  for (const text of ["", " \n\n", "\uFEFF"]) {
    const { faults, body } = splitFrontmatter(text);
    expect(body).toBe("");
    expect(faults.at(-1)).toMatchObject({ code: "frontmatter.missing", message: "The file is empty." });
  }
});

test("a YAML file is frontmatter as a whole, or up to its second fence", () => {
  expect(splitYamlFile(YAML)).toMatchObject({ yaml: YAML, yamlLine: 1, body: "", faults: [] });
  expect(splitYamlFile(`---\n${YAML}`)).toMatchObject({ yaml: YAML, yamlLine: 2, body: "", faults: [] });
  expect(splitYamlFile(`---\n${YAML}---\nBody`)).toMatchObject({ yaml: YAML, body: "Body", faults: [] });
});
