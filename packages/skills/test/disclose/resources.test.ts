import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SkillResourceError } from "@metier/base/errors";
import { describe, expect, test } from "vitest";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { mediaTypeOf, partialEdges } from "../../src/disclose/media-type.ts";
import {
  type LocatedSkill,
  listResources,
  type ReadResourceOptions,
  readResource,
} from "../../src/disclose/resources.ts";

function skillWith(files: Readonly<Record<string, string | Buffer>> = {}): LocatedSkill {
  const root = temporaryFolder();
  const directory = join(root, "pdf");
  writeTree(directory, { "SKILL.md": skillText("name: pdf\ndescription: d"), ...files });
  return { name: "pdf", form: "directory", location: join(directory, "SKILL.md"), directory, root };
}

function paths(skill: LocatedSkill): readonly string[] {
  return listResources(skill).resources.map(({ kind, path }) => `${kind}: ${path}`);
}

describe("listing resources", () => {
  verifies([4, 114, 116, "case 97"], "files are listed by kind, sorted, subfolders included", () => {
    const skill = skillWith({
      "references/b.md": "b",
      "references/a.md": "a",
      "references/api/v1.md": "v1",
      "scripts/run.py": "print()",
      "assets/logo.png": "png",
      "LICENSE.txt": "MIT",
      "templates/x.html": "<p>",
      scripts2: "no folder of scripts",
    });
    expect(paths(skill)).toEqual([
      "scripts: scripts/run.py",
      "references: references/a.md",
      "references: references/api/v1.md",
      "references: references/b.md",
      "assets: assets/logo.png",
      "other: LICENSE.txt",
      "other: scripts2",
      "other: templates/x.html",
    ]);
  });

  verifies([114, "case 97"], "a skill without files, a flat one and one without a folder have none", () => {
    const skill = skillWith();
    expect(listResources(skill)).toEqual({ resources: [], diagnostics: [] });
    writeFileSync(join(skill.root, "flat.md"), skillText("name: flat\ndescription: d"));
    const flat = {
      ...skill,
      form: "markdown",
      location: join(skill.root, "flat.md"),
      directory: skill.root,
    } as const;
    expect(listResources(flat).resources).toEqual([]);
    expect(listResources({ ...skill, location: "", directory: "", root: "" }).resources).toEqual([]);
  });

  test("each file comes with its size and media type", () => {
    const skill = skillWith({
      "a.json": "{}",
      notes: "text",
      blob: Buffer.from([1, 0, 2]),
      "cut-character": Buffer.from(`${"x".repeat(1023)}é`),
    });
    expect(listResources(skill).resources).toEqual([
      { path: "a.json", kind: "other", size: 2, mediaType: "application/json" },
      { path: "blob", kind: "other", size: 3, mediaType: "application/octet-stream" },
      { path: "cut-character", kind: "other", size: 1025, mediaType: "text/plain" },
      { path: "notes", kind: "other", size: 4, mediaType: "text/plain" },
    ]);
  });

  verifies(181, "links that stay inside are listed, others are left out and named", () => {
    const skill = skillWith({ "references/a.md": "a" });
    const link = (name: string, target: string): void => symlinkSync(target, join(skill.directory, name));
    link("inside", "references/a.md");
    link("folder", "references");
    link("outside", "/etc/passwd");
    link("dangling", "nothing");
    execFileSync("mkfifo", [join(skill.directory, "pipe")]);
    expect(paths(skill)).toEqual(["references: references/a.md", "other: inside"]);
    const left = listResources(skill).diagnostics.map(({ code, path }) => [code, path]);
    expect(left).toEqual([
      ["link.dangling", join(skill.directory, "dangling")],
      ["resource.link-escapes", join(skill.directory, "outside")],
      ["resource.special-file", join(skill.directory, "pipe")],
    ]);
  });

  test("a skill with too many files is not listed, and that is said", () => {
    const skill = skillWith({ a: "", b: "", c: "" });
    const { resources, diagnostics } = listResources(skill, { maxEntries: 3 });
    expect(resources).toEqual([]);
    expect(diagnostics).toMatchObject([{ code: "resource.unlistable", path: skill.directory }]);
  });
});

describe("reading resources", () => {
  const reasonOf = (skill: LocatedSkill, path: string, options?: ReadResourceOptions): string => {
    try {
      readResource(skill, path, options);
      return "read";
    } catch (error) {
      return error instanceof SkillResourceError ? error.reason : String(error);
    }
  };

  verifies([106, 115, 116], "a file is read on request, as text with its media type", () => {
    const skill = skillWith({ "references/api/v1.md": "# Version 1 ✓" });
    expect(readResource(skill, "references/api/v1.md")).toEqual({
      path: "references/api/v1.md",
      mediaType: "text/markdown",
      size: 15,
      range: { start: 0, end: 15 },
      text: "# Version 1 ✓",
    });
  });

  verifies(
    "case 97",
    "JSON comes as text, the skill file can be read, and a missing file is an error",
    () => {
      const skill = skillWith({ "assets/a.json": '{"a":1}' });
      expect(readResource(skill, "assets/a.json").text).toBe('{"a":1}');
      expect(readResource(skill, "SKILL.md").text).toContain("name: pdf");
      expect(() => readResource(skill, "references/none.md")).toThrow(
        expect.objectContaining({ code: "skill.resource", reason: "missing", skillName: "pdf" }),
      );
      expect(() => readResource(skill, "references/none.md")).toThrow("`references/none.md` does not exist");
    },
  );

  verifies(["case 97", 180], "paths that go up and absolute ones are rejected", () => {
    const skill = skillWith();
    expect(reasonOf(skill, "../pdf/SKILL.md")).toBe("outside");
    expect(reasonOf(skill, skill.location)).toBe("outside");
  });

  test("files beside a flat skill are not its own", () => {
    const skill = skillWith();
    const flat = {
      ...skill,
      form: "markdown",
      location: join(skill.root, "flat.md"),
      directory: skill.root,
    } as const;
    expect(reasonOf(flat, "pdf/SKILL.md")).toBe("missing");
    expect(reasonOf({ ...skill, location: "" }, "SKILL.md")).toBe("missing");
  });

  test("binary files come as bytes, and are no text", () => {
    const bytes = Buffer.from([0x89, 0x50, 0, 0xff]);
    const skill = skillWith({ "a.png": bytes, "b.txt": bytes });
    expect(readResource(skill, "a.png")).toMatchObject({ mediaType: "image/png", bytes });
    expect(readResource(skill, "b.txt")).toMatchObject({ mediaType: "application/octet-stream", bytes });
    expect(reasonOf(skill, "a.png", { as: "text" })).toBe("invalid");
    expect(readResource(skill, "SKILL.md", { as: "bytes" })).not.toHaveProperty("text");
  });

  test("text in another encoding can be asked for as text", () => {
    const skill = skillWith({ "latin.txt": Buffer.from([0x63, 0x61, 0x66, 0xe9]) });
    expect(readResource(skill, "latin.txt").bytes).toHaveLength(4);
    expect(readResource(skill, "latin.txt", { as: "text" }).text).toBe("caf\u{fffd}");
  });

  test("a range is read, and a text never begins or ends within a character", () => {
    const skill = skillWith({ "a.txt": "aé✓🎉z" }); // Bytes 0, 1–2, 3–5, 6–9, 10.
    const read = (start?: number, end?: number): readonly unknown[] => {
      const range = { ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
      const { text, range: got } = readResource(skill, "a.txt", { range });
      return [text, got.start, got.end];
    };
    expect(read(0, 3)).toEqual(["aé", 0, 3]);
    expect(read(2, 8)).toEqual(["✓", 3, 6]);
    expect(read(7)).toEqual(["z", 10, 11]);
    expect(read(undefined, 9)).toEqual(["aé✓", 0, 6]);
    expect(read(3, 1000)).toEqual(["✓🎉z", 3, 11]);
    expect(read(500)).toEqual(["", 11, 11]);
    const bytes = readResource(skill, "a.txt", { range: { start: 2, end: 4 }, as: "bytes" });
    expect(bytes).toMatchObject({ range: { start: 2, end: 4 }, bytes: Buffer.from([0xa9, 0xe2]) });
  });

  test("ranges that are none are refused", () => {
    const skill = skillWith();
    for (const range of [{ start: -1 }, { start: 1.5 }, { start: 2, end: 1 }, { end: Number.NaN }]) {
      expect(reasonOf(skill, "SKILL.md", { range }), JSON.stringify(range)).toBe("invalid");
    }
  });

  test("more than the limit is refused, and a range of it is read", () => {
    const skill = skillWith({ "long.txt": "x".repeat(100) });
    expect(reasonOf(skill, "long.txt", { maxBytes: 99 })).toBe("too-large");
    expect(readResource(skill, "long.txt", { maxBytes: 100 }).text).toHaveLength(100);
    expect(readResource(skill, "long.txt", { maxBytes: 10, range: { end: 10 } }).text).toHaveLength(10);
    expect(reasonOf(skill, "long.txt", { maxBytes: 10, range: { end: 11 } })).toBe("too-large");
  });

  test("an empty file is an empty text, a folder is no file", () => {
    const skill = skillWith({ "empty.md": "" });
    mkdirSync(join(skill.directory, "scripts"));
    expect(readResource(skill, "empty.md")).toMatchObject({ text: "", size: 0 });
    expect(reasonOf(skill, "scripts")).toBe("not-a-file");
  });
});

test("a media type is told by the ending, and by the bytes where that does not tell", () => {
  const text = Buffer.from("text");
  const binary = Buffer.from([0]);
  expect(mediaTypeOf("a.MD", text)).toBe("text/markdown");
  expect(mediaTypeOf("a.svg", text)).toBe("image/svg+xml");
  expect(mediaTypeOf("Makefile", text)).toBe("text/plain");
  expect(mediaTypeOf("a.unknown", binary)).toBe("application/octet-stream");
  expect(mediaTypeOf("a.py", binary)).toBe("application/octet-stream");
  expect(mediaTypeOf("a.pdf", text)).toBe("application/pdf");
});

test("halves of characters are found at both ends", () => {
  const bytes = Buffer.from("é🎉");
  expect(partialEdges(bytes)).toEqual({ before: 0, after: 0 });
  expect(partialEdges(bytes.subarray(1))).toEqual({ before: 1, after: 0 });
  expect(partialEdges(bytes.subarray(0, 3))).toEqual({ before: 0, after: 1 });
  expect(partialEdges(bytes.subarray(0, 5))).toEqual({ before: 0, after: 3 });
  expect(partialEdges(bytes.subarray(3))).toEqual({ before: 3, after: 0 });
  expect(partialEdges(Buffer.alloc(0))).toEqual({ before: 0, after: 0 });
});
