import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { SearchLimits } from "../../src/sources/search.ts";
import { searchRoot } from "../../src/sources/search-root.ts";
import type { SkillRoot } from "../../src/sources/skill-roots.ts";

const SKILL = skillText("name: x\ndescription: A skill.");

function root(path: string, more: Partial<SkillRoot> = {}): SkillRoot {
  return { scope: "user", path, kind: "own", rank: 1, explicit: false, grantFolder: path, ...more };
}

async function scan(path: string, more: Partial<SkillRoot> = {}, limits?: SearchLimits) {
  const result = await searchRoot(root(path, more), {
    knownRoots: new Set(),
    nested: false,
    ...(limits && { limits }),
  });
  return {
    outcome: result.outcome,
    files: result.found.map(({ candidate }) => candidate.file.slice(path.length + 1)),
    codes: result.diagnostics.map(({ code }) => code),
    diagnostics: result.diagnostics,
    found: result.found,
  };
}

describe("what is found", () => {
  verifies([1, 2, 3], "folders with a skill file, flat Markdown and YAML at the top", async () => {
    const folder = temporaryFolder();
    writeTree(folder, {
      "a/SKILL.md": SKILL,
      "flat.md": SKILL,
      "y.yaml": "name: y",
      "z.yml": "name: z",
      "a.txt": "no",
    });
    expect((await scan(folder)).files).toEqual(["flat.md", "y.yaml", "z.yml", "a/SKILL.md"]);
    expect(
      (await scan(folder)).found.map(({ candidate }) => [candidate.form, candidate.defaultName]),
    ).toEqual([
      ["markdown", "flat"],
      ["yaml", "y"],
      ["yaml", "z"],
      ["directory", "a"],
    ]);
  });

  verifies(
    "case 31",
    "a folder without a skill file is no skill, and flat files below the top are none either",
    async () => {
      const folder = temporaryFolder();
      writeTree(folder, { "empty/notes.md": "text", "category/tool/SKILL.md": SKILL });
      expect(await scan(folder)).toMatchObject({ files: ["category/tool/SKILL.md"], codes: [] });
    },
  );

  verifies(73, "skills are found in nested category folders, sorted, the same every time", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "b/two/SKILL.md": SKILL, "a/one/SKILL.md": SKILL, "c/d/e/three/SKILL.md": SKILL });
    expect((await scan(folder)).files).toEqual(["a/one/SKILL.md", "b/two/SKILL.md", "c/d/e/three/SKILL.md"]);
    expect(await scan(folder)).toEqual(await scan(folder));
  });

  test("a skill file in another case is found; beside the exact name it is reported", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "a/skill.md": SKILL, "b/Skill.MD": SKILL, "c/SKILL.md": SKILL, "c/skill.md": SKILL });
    expect(await scan(folder)).toMatchObject({
      files: ["a/skill.md", "b/Skill.MD", "c/SKILL.md"],
      codes: ["scan.second-skill-file"],
    });
  });

  test("a skill below another is part of its content and reported, or found when asked for", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "a/SKILL.md": SKILL, "a/deep/er/SKILL.md": SKILL });
    expect(await scan(folder)).toMatchObject({ files: ["a/SKILL.md"], codes: ["scan.nested-skill"] });
    const nested = await searchRoot(root(folder), { knownRoots: new Set(), nested: true });
    expect(nested.found).toHaveLength(2);
    expect(nested.diagnostics).toEqual([]);
  });

  test("a skill file at the top of a default skills folder is reported, not used, and hides nothing", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "SKILL.md": SKILL, "a/SKILL.md": SKILL });
    expect(await scan(folder)).toMatchObject({ files: ["a/SKILL.md"], codes: ["scan.skill-file-in-root"] });
  });

  test("`.git` and `node_modules` are not searched", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { ".git/a/SKILL.md": SKILL, "node_modules/b/SKILL.md": SKILL, "c/SKILL.md": SKILL });
    expect((await scan(folder)).files).toEqual(["c/SKILL.md"]);
  });
});

describe("an explicit path", () => {
  test("may be a skill folder, a skill file, a flat file or a folder of skills", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "a/SKILL.md": SKILL, "flat.md": SKILL });
    const explicit = { scope: "custom", explicit: true } as const;
    expect((await scan(join(folder, "a"), explicit)).found[0]?.candidate.defaultName).toBe("a");
    expect((await scan(join(folder, "a", "SKILL.md"), explicit)).found[0]?.candidate.form).toBe("directory");
    expect((await scan(join(folder, "flat.md"), explicit)).found[0]?.candidate.form).toBe("markdown");
    expect((await scan(folder, explicit)).found).toHaveLength(2);
  });

  test("that is missing or of another kind is an error with its path", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "a.txt": "text" });
    const explicit = { scope: "custom", explicit: true } as const;
    expect(await scan(join(folder, "no"), explicit)).toMatchObject({
      outcome: "missing",
      codes: ["source.missing"],
    });
    expect(await scan(join(folder, "a.txt"), explicit)).toMatchObject({
      outcome: "not-a-directory",
      codes: ["source.not-a-directory"],
    });
  });
});

describe("places that cannot be searched", () => {
  verifies(
    [69, "case 29"],
    "a missing default folder is no error and an empty one holds nothing",
    async () => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, "empty"));
      expect(await scan(join(folder, "missing"))).toMatchObject({ outcome: "missing", files: [], codes: [] });
      expect(await scan(join(folder, "empty"))).toMatchObject({ outcome: "searched", files: [], codes: [] });
    },
  );

  test("a skills path that is a file says so", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { skills: "not a folder" });
    expect((await scan(join(folder, "skills"))).diagnostics).toMatchObject([
      { code: "source.not-a-directory", severity: "warning", path: join(folder, "skills") },
    ]);
  });

  verifies("case 33", "an unreadable folder is reported and the rest is found", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "a/SKILL.md": SKILL, "locked/SKILL.md": SKILL });
    chmodSync(join(folder, "locked"), 0o000);
    const result = await scan(folder);
    chmodSync(join(folder, "locked"), 0o755);
    if (process.getuid?.() === 0)
      expect(result.files).toEqual(["a/SKILL.md", "locked/SKILL.md"]); // root reads everything
    else expect(result).toMatchObject({ files: ["a/SKILL.md"], codes: ["source.unreadable"] });
  });
});

describe("limits", () => {
  test("folders below the depth limit are left out, said once", async () => {
    const folder = temporaryFolder();
    writeTree(folder, {
      "1/2/3/4/5/SKILL.md": SKILL,
      "1/2/3/4/x/6/SKILL.md": SKILL,
      "1/2/3/4/y/6/SKILL.md": SKILL,
    });
    expect(await scan(folder)).toMatchObject({ files: ["1/2/3/4/5/SKILL.md"], codes: ["scan.depth-limit"] });
  });

  test("the first places up to the entry limit are used, and the limit is said", async () => {
    const folder = temporaryFolder();
    writeTree(folder, Object.fromEntries(["a", "b", "c", "d"].map((name) => [`${name}/SKILL.md`, SKILL])));
    const limits = { depth: 5, entries: 3, entriesPerSkill: 10, entriesInAll: 100 };
    expect(await scan(folder, {}, limits)).toMatchObject({
      files: ["a/SKILL.md", "b/SKILL.md", "c/SKILL.md"],
      codes: ["scan.entry-limit"],
    });
  });

  test("a skill with very many files is found; the search inside it stops and says so", async () => {
    const folder = temporaryFolder();
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`a/data/${index}.txt`, "x"]));
    writeTree(folder, { "a/SKILL.md": SKILL, ...files });
    const limits = { depth: 5, entries: 30, entriesPerSkill: 10, entriesInAll: 100 };
    expect(await scan(folder, {}, limits)).toMatchObject({
      files: ["a/SKILL.md"],
      codes: ["scan.entry-limit"],
    });
  });
});

describe("`.gitignore`", () => {
  test("hides what it names below a root, and what it hides is reported", async () => {
    const folder = temporaryFolder();
    writeTree(folder, {
      ".gitignore": "drafts/\n*.tmp.md\n",
      "drafts/a/SKILL.md": SKILL,
      "b/SKILL.md": SKILL,
      "c/.gitignore": "inner/\n",
      "c/inner/SKILL.md": SKILL,
      "c/outer/SKILL.md": SKILL,
    });
    expect(await scan(folder)).toMatchObject({
      files: ["b/SKILL.md", "c/outer/SKILL.md"],
      codes: ["scan.ignored", "scan.ignored"],
    });
  });

  test("never applies to the root itself, nor do rules from above it", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { ".gitignore": ".claude/\nskills/\n", ".claude/skills/a/SKILL.md": SKILL });
    expect(await scan(join(folder, ".claude", "skills"))).toMatchObject({ files: ["a/SKILL.md"], codes: [] });
  });
});

describe("links", () => {
  verifies(
    [181, "case 38"],
    "a link inside the root is followed, one that leaves it is refused with its target",
    async () => {
      const folder = temporaryFolder();
      const outside = temporaryFolder();
      writeTree(folder, { "real/SKILL.md": SKILL });
      writeTree(outside, { "evil/SKILL.md": SKILL });
      symlinkSync(join(folder, "real"), join(folder, "alias"));
      symlinkSync(join(outside, "evil"), join(folder, "evil"));
      const result = await scan(folder);
      expect(result.files).toEqual(["real/SKILL.md", "alias/SKILL.md"]);
      expect(result.found.map(({ realFile }) => realFile)).toEqual(
        Array(2).fill(join(folder, "real", "SKILL.md")),
      );
      expect(result.diagnostics).toMatchObject([{ code: "link.escapes", path: join(folder, "evil") }]);
    },
  );

  test("a link may lead into another known root", async () => {
    const folder = temporaryFolder();
    const other = temporaryFolder();
    writeTree(other, { "a/SKILL.md": SKILL });
    symlinkSync(join(other, "a"), join(folder, "a"));
    const result = await searchRoot(root(folder), { knownRoots: new Set([other]), nested: false });
    expect(result.found[0]?.realFile).toBe(join(other, "a", "SKILL.md"));
  });

  test("a link deep into a known root is followed, one into a folder whose name only starts like it is not", async () => {
    const [folder, near] = [temporaryFolder(), temporaryFolder()];
    const known = join(near, "known");
    writeTree(near, { "known/a/b/c/SKILL.md": SKILL, "known-not/d/SKILL.md": SKILL });
    symlinkSync(join(known, "a/b/c"), join(folder, "c"));
    symlinkSync(join(near, "known-not/d"), join(folder, "d"));
    const result = await searchRoot(root(folder), { knownRoots: new Set([known]), nested: false });
    expect(result.found.map(({ candidate }) => candidate.file)).toEqual([join(folder, "c", "SKILL.md")]);
    expect(result.diagnostics).toMatchObject([{ code: "link.escapes", path: join(folder, "d") }]);
  });

  test("a skill file that is itself a link out of the root is refused", async () => {
    const folder = temporaryFolder();
    const outside = temporaryFolder();
    writeTree(outside, { "secret.md": "secret" });
    mkdirSync(join(folder, "a"));
    symlinkSync(join(outside, "secret.md"), join(folder, "a", "SKILL.md"));
    expect(await scan(folder)).toMatchObject({ files: [], codes: ["link.escapes"] });
  });

  test("dangling links are reported", async () => {
    const folder = temporaryFolder();
    symlinkSync(join(folder, "nowhere"), join(folder, "a"));
    expect(await scan(folder)).toMatchObject({ files: [], codes: ["link.dangling"] });
  });

  test("a link farm with cycles ends, and every skill is found once per path at most", async () => {
    const folder = temporaryFolder();
    for (const name of ["a", "b", "c", "d"]) {
      mkdirSync(join(folder, name));
      for (const other of ["a", "b", "c", "d"])
        symlinkSync(join(folder, other), join(folder, name, `to-${other}`));
      symlinkSync(folder, join(folder, name, "up"));
    }
    writeTree(folder, { "a/skill/SKILL.md": SKILL });
    const result = await scan(folder);
    expect(result.files.length).toBeLessThanOrEqual(2);
    expect(new Set(result.found.map(({ realFile }) => realFile)).size).toBe(1);
  });

  test("a project's skills folder that is a link out of the project is not searched", async () => {
    const project = temporaryFolder();
    const outside = temporaryFolder();
    writeTree(outside, { "a/SKILL.md": SKILL });
    symlinkSync(outside, join(project, "skills"));
    expect(await scan(join(project, "skills"), { scope: "project", grantFolder: project })).toMatchObject({
      outcome: "link-escapes",
      files: [],
      codes: ["link.escapes"],
    });
  });
});
