import fc from "fast-check";
import { stringify } from "smol-toml";
import { describe, expect, test } from "vitest";
import {
  type ConfigFormat,
  ConfigSyntaxError,
  editDocument,
  formatOf,
  parseConfigDocument,
} from "../../src/config/formats/config-document.ts";

const TOML = `# a comment with [brackets] and = signs
top.deep = 1 # x = 2

[skills] # [not.a.table]
paths = [
  "a = b", # comment ] "
  'c',
]
text = """
[fake]
key = "in a string \\"""
"""
raw = '''
[fake.too]'''
inline = { a = 1, b = { c = "}" } }

  [ skills . "quoted.name" ]
  "key" = 1
'other key' = 2

[[skills.plugins]]
url = "x"
[[skills.plugins]]
url = "y"
`;

async function locate(text: string, format: ConfigFormat, path: string): Promise<string | undefined> {
  const position = (await parseConfigDocument(text, format)).locate(path.split("/"));
  return position && `${position.line}:${position.column}`;
}

describe("where a key stands", () => {
  test.each([
    ["top", "2:1"],
    ["top/deep", "2:1"],
    ["skills", "4:1"],
    ["skills/paths", "5:1"],
    ["skills/text", "9:1"],
    ["skills/raw", "13:1"],
    ["skills/inline", "15:1"],
    ["skills/inline/b/c", "15:1"],
    ["skills/quoted.name", "17:3"],
    ["skills/quoted.name/key", "18:3"],
    ["skills/quoted.name/other key", "19:1"],
    ["skills/plugins", "21:1"],
    ["skills/plugins/url", "22:1"],
    ["skills/missing", "4:1"],
    ["fake", undefined],
  ])("TOML %s is at %s", async (path, position) => {
    expect(await locate(TOML, "toml", path)).toBe(position);
  });

  test.each([
    ["yaml", "a: 1\nb:\n  c:\n    - 1\n  d: {e: 2}\n", "b/c", "3:3"],
    ["yaml", "a: 1\nb:\n  c:\n    - 1\n  d: {e: 2}\n", "b/d/e", "5:7"],
    ["yaml", "a: 1\n", "b", undefined],
    ["json", '{"a": 1,\n "b": {"c": [1, {"x": 2}],\n  "d": null}}', "b/d", "3:3"],
    ["json", '{"a": 1,\n "b": {"c": [1, {"x": 2}]}}', "b/c", "2:8"],
  ] as const)("%s %j: %s is at %s", async (format, text, path, position) => {
    expect(await locate(text, format, path)).toBe(position);
  });

  test("with Windows line ends and a byte order mark the lines are the same", async () => {
    const text = "\uFEFF[skills]\r\nnested = true\r\n\r\nbundled = false\r\n";
    expect(await locate(text, "toml", "skills/bundled")).toBe("4:1");
  });

  test("every key of any TOML document is found on a line that names it", async () => {
    const key = fc.stringMatching(/^[a-z][a-z0-9-]{0,6}$/);
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }));
    const table = fc.dictionary(key, fc.oneof(scalar, fc.dictionary(key, scalar, { maxKeys: 4 })), {
      maxKeys: 5,
    });
    await fc.assert(
      fc.asyncProperty(table, async (values) => {
        const text = stringify(values);
        const lines = text.split("\n");
        const document = await parseConfigDocument(text, "toml");
        for (const [name, value] of Object.entries(values)) {
          expect(lines[(document.locate([name])?.line ?? 0) - 1]).toContain(name);
          if (typeof value !== "object" || Array.isArray(value)) continue;
          for (const inner of Object.keys(value))
            expect(lines[(document.locate([name, inner])?.line ?? 0) - 1]).toContain(inner);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("a file that is broken", () => {
  test.each([
    ["toml", 'a = 1\nb = "s3cret\n', "2:12"],
    ["toml", "a = 1\na = 2\n", "2:1"],
    ["yaml", "a: 1\nb: 's3cret\n", "3:1"],
    ["yaml", "a: 1\na: 2\n", "2:1"],
    ["yaml", "- s3cret\n", "1:1"],
    ["yaml", "a: 'x' s3cret\n", "1:8"],
    ["json", '{"a": 1,\n "b": "s3cret}', "2:7"],
    ["json", '{"a": 1,}', "1:9"],
    ["json", '{"a": tru}', "1:7"],
    ["json", '{"a": 1 "b": 2}', "1:9"],
    ["json", '{"a": 1} x', "1:10"],
    ["json", '{"a": 1, "a": 2}', "1:13"],
    ["json", '{"a": 1', "1:8"],
    ["json", "[1]", "1:1"],
    ["json", `${"[".repeat(200)}`, "1:102"],
  ] as const)("%s %j fails at %s without quoting it", async (format, text, place) => {
    const fault = await parseConfigDocument(text, format).catch((caught) => caught);
    expect(fault).toBeInstanceOf(ConfigSyntaxError);
    expect(`${fault.position?.line}:${fault.position?.column}`).toBe(place);
    expect(fault.message).not.toContain("s3cret");
    expect(fault.message).toMatch(/\w/);
  });

  test("an alias bomb and endless nesting are refused", async () => {
    const bomb = `a: &a [x]\n${Array.from({ length: 9 }, (_, i) => `b${i}: &b${i} [${"*a, ".repeat(9)}*a]`).join("\n")}\n`;
    await expect(parseConfigDocument(bomb, "yaml")).rejects.toThrow(ConfigSyntaxError);
    await expect(parseConfigDocument("[".repeat(20_000), "yaml")).rejects.toThrow(ConfigSyntaxError);
    await expect(parseConfigDocument(`a = ${"[".repeat(20_000)}`, "toml")).rejects.toThrow(ConfigSyntaxError);
  });

  test("any text gives a document or a `ConfigSyntaxError`", async () => {
    const noise = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(
          fc.constantFrom(
            "[",
            "]",
            "{",
            "}",
            '"',
            "'",
            "=",
            ":",
            ",",
            "\n",
            "a",
            " ",
            "#",
            "\\",
            "-",
            "&a",
            "*a",
          ),
        )
        .map((parts) => parts.join("")),
    );
    await fc.assert(
      fc.asyncProperty(noise, fc.constantFrom("toml", "yaml", "json" as const), async (text, format) => {
        try {
          const document = await parseConfigDocument(text, format as ConfigFormat);
          for (const key of Object.keys(document.values)) document.locate([key, "x"]);
        } catch (fault) {
          expect(fault).toBeInstanceOf(ConfigSyntaxError);
        }
      }),
      { numRuns: 600 },
    );
  });
});

describe("formats", () => {
  test("JSON is read as `JSON.parse` reads it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), async (values) => {
        const text = JSON.stringify(values, null, 1);
        expect((await parseConfigDocument(text, "json")).values).toEqual(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  test("an empty file of any format is an empty config", async () => {
    for (const format of ["toml", "yaml", "json"] as const)
      expect((await parseConfigDocument("  \n", format)).values).toEqual({});
  });

  test.each([
    ["config.toml", "toml"],
    ["a.yaml", "yaml"],
    ["a.YML", "yaml"],
    ["a.json", "json"],
    ["metier.conf", "toml"],
  ])("%s is %s", (file, format) => {
    expect(formatOf(file)).toBe(format);
  });
});

test.each([
  [
    [
      { source: "https://example.com/a b.git", skills: ["a", 'quote"d'] },
      { source: "caf\u00e9", count: 2 },
    ],
  ],
  [[{ source: "x", nested: { key: [1, { deep: true }] }, "odd key": "line\nbreak" }]],
])("a list of tables in a new file is what it is in one that has something: %j", async (value) => {
  const changes = [{ path: ["skills", "plugins"], value }];
  for (const text of ["", "# mine\n"]) {
    const edited = await editDocument(text, "toml", changes);
    expect((await parseConfigDocument(edited, "toml")).values).toEqual({ skills: { plugins: value } });
  }
});
