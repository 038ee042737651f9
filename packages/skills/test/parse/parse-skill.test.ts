import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { parseSkill } from "../../src/parse/parse-skill.ts";
import type { ParsedSkill, SkillForm } from "../../src/skill/skill.ts";

const FILE = "/skills/demo/SKILL.md";

async function parse(text: string, form: SkillForm = "directory"): Promise<ParsedSkill> {
  return await parseSkill({ form, file: FILE, directory: "/skills/demo", defaultName: "demo" }, text);
}

/** Diagnostics as `severity code line`. */
async function faults(text: string, form?: SkillForm): Promise<readonly string[]> {
  const { diagnostics } = await parse(text, form);
  expect(diagnostics.every(({ path }) => path === FILE)).toBe(true);
  return diagnostics.map(({ severity, code, line }) => `${severity} ${code} ${line}`);
}

verifies([1, 2, 5, "case 1"], "a skill folder's file and a flat Markdown file are read alike", async () => {
  const text = "---\nname: demo\ndescription: A demo.\n---\n\n# Demo\n\nDo it.\n";
  for (const form of ["directory", "markdown"] as const) {
    const parsed = await parse(text, form);
    expect(parsed.frontmatter).toEqual({ name: "demo", description: "A demo." });
    expect(parsed).toMatchObject({ body: "# Demo\n\nDo it.", bodyLine: 6, diagnostics: [] });
    expect(parsed.position("description")).toEqual({ line: 3, column: 1 });
  }
});

test("simple frontmatter needs no waiting, and after the first other file nothing does", async () => {
  const candidate = {
    form: "directory",
    file: FILE,
    directory: "/skills/demo",
    defaultName: "demo",
  } as const;
  expect(parseSkill(candidate, "---\nname: a\n---\n")).not.toBeInstanceOf(Promise);
  await parseSkill(candidate, "---\nname: {a: b}\n---\n");
  expect(parseSkill(candidate, "---\nname: {a: b}\n---\n")).not.toBeInstanceOf(Promise);
});

verifies([3], "a YAML file is a skill whose instructions stand under a key", async () => {
  const text = "name: demo\ninstructions: |\n\n  # Demo\n\n  Do it.\nmax_iterations: 3\n";
  const parsed = await parse(text, "yaml");
  expect(parsed.frontmatter).toEqual({ name: "demo", max_iterations: 3 });
  expect(parsed).toMatchObject({ body: "# Demo\n\nDo it.", bodyLine: 4, diagnostics: [] });
  expect(await parse('name: a\ninstructions: "Do \\"it\\"."', "yaml")).toMatchObject({
    body: 'Do "it".',
    bodyLine: 2,
  });
});

verifies(8, "every form gives name, description and instructions", async () => {
  const markdown = "---\nname: a\ndescription: b\n---\nDo it.";
  const texts = {
    directory: markdown,
    markdown,
    yaml: "name: a\ndescription: b\ninstructions: Do it.",
  } as const;
  for (const form of ["directory", "markdown", "yaml"] as const) {
    const { frontmatter, body } = await parse(texts[form], form);
    expect({ ...frontmatter, body }).toEqual({ name: "a", description: "b", body: "Do it." });
  }
});

test("a YAML skill without instructions, or with something else there, has no body", async () => {
  expect(await parse("name: a\n", "yaml")).toMatchObject({ body: "", diagnostics: [] });
  expect(await parse("name: a\ninstructions:\n", "yaml")).toMatchObject({ body: "", diagnostics: [] });
  expect(await faults("name: a\ninstructions: [b]\n", "yaml")).toEqual(["error instructions.not-text 2"]);
  expect(await faults("instructions: a\n---\nb", "yaml")).toEqual(["warning yaml.dropped 3"]);
});

test("a YAML skill with long instructions is read", async () => {
  const line = "A line of instructions.";
  const text = `description: a\ninstructions: |\n${`  ${line}\n`.repeat(10_000)}`;
  expect((await parse(text, "yaml")).body.split("\n")).toHaveLength(10_000);
});

verifies([10], "a block scalar is read as the description", async () => {
  const { frontmatter } = await parse(
    "---\nname: a\ndescription: |\n  One: two.\n\n  ---\n  Three.\n---\nBody",
  );
  expect(frontmatter?.description).toBe("One: two.\n\n---\nThree.\n");
});

verifies([6, "case 7"], "a file without frontmatter has none, and an error with its path", async () => {
  const parsed = await parse("# Demo\n\nText.");
  expect(parsed.frontmatter).toBeUndefined();
  expect(parsed.body).toBe("# Demo\n\nText.");
  expect(await faults("# Demo")).toEqual(["error frontmatter.missing 1"]);
});

verifies([7, "case 7"], "unclosed frontmatter is an error, but what can be read of it is", async () => {
  const text = "---\nname: a\ndescription: b\n\n# Title\n\nText.\n";
  expect((await parse(text)).frontmatter).toEqual({ name: "a", description: "b" });
  expect(await faults(text)).toEqual(["error frontmatter.unclosed 1"]);
});

test("a rule in the body is not taken for the closing fence that was forgotten", async () => {
  const text = "---\nname: a\ntags:\n  - b\n\n# Title\n\nText.\n\n## More\n\n---\n\nEnd.";
  const parsed = await parse(text);
  expect(parsed.frontmatter).toEqual({ name: "a", tags: ["b"] });
  expect(parsed).toMatchObject({ body: text.slice(text.indexOf("# Title")), bodyLine: 6 });
  expect(await faults(text)).toEqual(["error frontmatter.unclosed 1"]);
});

verifies(["case 7", "case 9"], "frontmatter that is empty, a list or plain text is an error", async () => {
  expect(await faults("---\n---\n")).toEqual(["error frontmatter.empty 2"]);
  expect(await faults("---\n# only a comment\n---\nBody")).toEqual(["error frontmatter.empty 2"]);
  expect(await faults("---\n- a\n- b\n---\n")).toEqual(["error frontmatter.not-a-mapping 2"]);
  expect(await faults("---\njust text\n---\n")).toEqual(["error frontmatter.not-a-mapping 2"]);
  expect((await parse("---\n- a\n---\nBody")).frontmatter).toBeUndefined();
});

verifies("case 8", "YAML beyond repair is an error with line and column", async () => {
  const { diagnostics, frontmatter } = await parse('---\nmetadata: {"a":"b":"c"}\n---\nBody');
  expect(frontmatter).toBeUndefined();
  expect(diagnostics).toMatchObject([{ code: "yaml.invalid", severity: "error", line: 2, column: 16 }]);
});

verifies(["case 8"], "what was repaired is a warning with line and column", async () => {
  const { diagnostics, frontmatter } = await parse("---\nname: a\nmetadata:\n\tb: c\n---\n");
  expect(frontmatter).toEqual({ name: "a", metadata: { b: "c" } });
  expect(diagnostics).toMatchObject([{ code: "yaml.repaired", severity: "warning", line: 4, column: 1 }]);
});

verifies("case 13", "the metadata does not depend on the body", async () => {
  const header = "---\nname: a\ndescription: b: c\nx: [1, {y: z}]\n---\n";
  const full = await parse(`${header}\n# Body\n\n---\nname: other\n`);
  expect(full.frontmatter).toEqual((await parse(header)).frontmatter);
  expect(full.diagnostics).toEqual((await parse(header)).diagnostics);
});

verifies(11, "files of other clients are read with every field they have", async () => {
  const text =
    '---\nname: a\ndescription: b\nallowed-tools: Bash(git:*), Read\nmetadata: {"x":{"requires":{"bins":["gh"]}}}\nargument-hint: "[file]"\n---\n';
  expect((await parse(text)).frontmatter).toEqual({
    name: "a",
    description: "b",
    "allowed-tools": "Bash(git:*), Read",
    metadata: { x: { requires: { bins: ["gh"] } } },
    "argument-hint": "[file]",
  });
});

describe("hostile text", () => {
  test("control characters do not stop the reading", async () => {
    const text = "---\nname: a\0b\ndescription: c\u0007\n---\n";
    expect((await parse(text)).frontmatter).toEqual({ name: "ab", description: "c" });
    expect(await faults(text)).toEqual(["warning text.control-character 2"]);
  });

  test("invisible characters are kept and reported", async () => {
    const text = "---\nname: a\ndescription: b\u202ec\n---\n";
    expect((await parse(text)).frontmatter?.description).toBe("b\u202ec");
    expect(await faults(text)).toEqual(["warning text.invisible 3"]);
  });

  test.each([
    ["a right-to-left override", '"a\\u202eb"', "U+202E"],
    ["hidden tags", '"a \\U000e0069"', "U+E0069"],
    ["a terminal's escape", '"\\e[31m"', "U+001B"],
    ["what is deep inside", '{x: ["a", {y: "\\x00"}]}', "U+0000"],
    ["a nested key", '{"x\\u200by": z}', "U+200B"],
  ])("%s in an escape is kept and reported once, with its line", async (_, value, character) => {
    const text = `---\nname: a\ndescription: ${value}\nlicense: "\\u200b"\n---\n`;
    expect(await faults(text)).toEqual(["warning text.invisible 3"]);
    const [diagnostic] = (await parse(text)).diagnostics;
    expect(diagnostic?.message).toContain(
      `\`description\` has an escape for the invisible character ${character}`,
    );
  });

  test("other escapes are not reported, nor is what only looks like one", async () => {
    const joined = '"\\U0001F468\\u200D\\U0001F469"';
    const text = `---\nname: "a\\tb\\n\\u00e9"\ndescription: ${joined}\nlicense: 'a\\u202eb'\n---\n`;
    expect(await faults(text)).toEqual([]);
  });

  test("characters that are seen to be invisible are reported once, escapes or not", async () => {
    expect(await faults('---\nname: a\u200b\ndescription: "\\u200b"\n---\n')).toEqual([
      "warning text.invisible 2",
    ]);
  });

  test("frontmatter larger than a skill can need is not read", async () => {
    const text = `---\nname: a\ndescription: ${"x".repeat(70_000)}\n---\nBody`;
    expect(await parse(text)).toMatchObject({ body: "Body" });
    expect(await faults(text)).toEqual(["error frontmatter.too-large 2"]);
  });

  test("a bomb of aliases is a diagnostic", async () => {
    const bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".concat(
      ..."bcdefgh".split("").map((name, index) => {
        const previous = String.fromCharCode("a".charCodeAt(0) + index);
        return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${previous}`).join(",")}]\n`;
      }),
    );
    expect(await faults(`---\n${bomb}---\n`)).toEqual([expect.stringMatching(/^error yaml\.too-complex/)]);
  });

  test("keys that reach prototypes are left out or plain data", async () => {
    const { frontmatter } = await parse("---\nname: a\n__proto__: {x: 1}\nconstructor: y\n---\n");
    expect(Object.entries(frontmatter ?? {})).toEqual([
      ["name", "a"],
      ["constructor", "y"],
    ]);
  });
});
