import { describe, expect, test } from "vitest";
import { outline, section } from "../../src/disclose/outline.ts";

const BODY = `Before.

# Setup
Install it.

## On Linux
apt

### Old systems
yum

## On macOS
brew

\`\`\`sh
# not a heading
\`\`\`

# Use
Run it.`;

function numbers(body: string): readonly string[] {
  return outline(body).map(({ number, title }) => `${number} ${title}`);
}

describe("the outline", () => {
  test("numbers sections by their place, and the beginning is 0", () => {
    expect(numbers(BODY)).toEqual([
      "0 ",
      "1 Setup",
      "1.1 On Linux",
      "1.1.1 Old systems",
      "1.2 On macOS",
      "2 Use",
    ]);
  });

  test("a section reaches to the next heading of its level", () => {
    const lines = outline(BODY).map(({ firstLine, lastLine }) => [firstLine, lastLine]);
    expect(lines).toEqual([
      [1, 2],
      [3, 18],
      [6, 11],
      [9, 11],
      [12, 18],
      [19, 20],
    ]);
  });

  test("nothing has no sections, and text without headings is one", () => {
    expect(outline("")).toEqual([]);
    expect(outline("\n \n")).toEqual([]);
    expect(outline("Only text.\nMore.")).toEqual([
      { number: "0", level: 0, title: "", firstLine: 1, lastLine: 2 },
    ]);
  });

  test("levels that are left out do not leave out numbers", () => {
    expect(numbers("### A\n# B\n### C\n## D\n###### E")).toEqual(["1 A", "2 B", "2.1 C", "2.2 D", "2.2.1 E"]);
  });

  test("code blocks of every kind hide what looks like a heading", () => {
    expect(numbers("~~~\n# a\n```\n# b\n~~~\n# C")).toEqual(["0 ", "1 C"]);
    expect(numbers("````\n```\n# a\n````\n# C")).toEqual(["0 ", "1 C"]);
    expect(numbers("```\n# a\n``` x\n# b\n```\n# C")).toEqual(["0 ", "1 C"]);
    expect(numbers("```\n# never closed")).toEqual(["0 "]);
    expect(numbers("``` a`b\n# A")).toEqual(["0 ", "1 A"]);
  });

  test("headings are read as Markdown has them", () => {
    expect(numbers("# A #\n## B ##  \n#no\n####### no\n    # no\n   # C\n# D#\n#\n# ###")).toEqual([
      "1 A",
      "1.1 B",
      "2 C",
      "3 D#",
      "4 ",
      "5 ",
    ]);
    expect(numbers("A\n===\nB\n---\ntext\n\n---\n- item\n---")).toEqual(["1 A", "1.1 B"]);
  });

  test("frontmatter has no headings, and a list above a line is none", () => {
    expect(numbers("---\nname: a\ndescription: b\n---\n# One")).toEqual(["0 ", "1 One"]);
    expect(numbers("---\n\n# One\n\n---\n\n# Two")).toEqual(["0 ", "1 One", "2 Two"]);
    expect(numbers("1. First\n2) Second\n---\n# One")).toEqual(["0 ", "1 One"]);
    expect(numbers("1.5 times\n---")).toEqual(["1 1.5 times"]);
  });

  test("is linear in the text", () => {
    const hostile = [
      `# ${"#".repeat(200_000)}x`,
      `#${" ".repeat(200_000)}`,
      "```\n".repeat(50_001),
      "# a\n".repeat(100_000),
    ];
    for (const body of hostile) expect(outline(body).length).toBeGreaterThan(0);
  });
});

describe("a section", () => {
  test("is found by number, with the sections within it", () => {
    expect(section(BODY, "1.1")?.text).toBe("## On Linux\napt\n\n### Old systems\nyum");
    expect(section(BODY, 2)).toMatchObject({ title: "Use", text: "# Use\nRun it." });
    expect(section(BODY, 0)?.text).toBe("Before.");
    expect(section(BODY, "1.2.")?.title).toBe("On macOS");
  });

  test("is found by heading, whatever its case and punctuation", () => {
    for (const wanted of ["On Linux", "on linux", "## On Linux", "#on-linux", " on_linux "]) {
      expect(section(BODY, wanted)?.number, wanted).toBe("1.1");
    }
  });

  test("a heading that is a number is found where no section has that number", () => {
    expect(section("# 2024\nx", 2024)?.text).toBe("# 2024\nx");
  });

  test("is not found where there is none", () => {
    for (const wanted of ["3", "Windows", "", "#", "1.9"]) expect(section(BODY, wanted)).toBeUndefined();
    expect(section("", "0")).toBeUndefined();
  });

  test("keeps Windows line ends out of titles", () => {
    expect(section("# A\r\ntext\r\n# B\r\n", "A")).toMatchObject({ title: "A", text: "# A\ntext" });
  });
});
