import {
  chmodSync,
  cpSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { identifyContent } from "../../src/trust/content-identity.ts";
import { checkSkillGrant, findSkillGrants, type SkillGrant } from "../../src/trust/grants.ts";
import type { SkillContent } from "../../src/trust/list-content.ts";

function makeSkill(): SkillContent {
  const directory = join(temporaryFolder(), "demo");
  writeTree(directory, {
    "SKILL.md": skillText("name: demo\ndescription: Shows."),
    "scripts/run.sh": "echo one\n",
    "notes.md": "notes",
  });
  symlinkSync("notes.md", join(directory, "alias.md"));
  return { form: "directory", directory, location: join(directory, "SKILL.md") };
}

function grantFor(content: SkillContent): SkillGrant {
  const outcome = identifyContent(content);
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  return { name: "demo", location: content.location, ...outcome.value, decidedAt: "2026-01-01" };
}

const USE = { rehash: true };
const LIST = { rehash: false };

describe.each([
  ["for a use", USE],
  ["for a list", LIST],
])("a skill grant, checked %s", (_, how) => {
  const script = (content: SkillContent): string => join(content.directory, "scripts/run.sh");

  test("holds while nothing changes", () => {
    const content = makeSkill();
    expect(checkSkillGrant(grantFor(content), content, how)).toEqual({ valid: true });
  });

  test("holds after a file was touched or rewritten with the same bytes", () => {
    const content = makeSkill();
    const grant = grantFor(content);
    utimesSync(content.location, 5_000, 5_000);
    writeFileSync(script(content), "echo one\n");
    expect(checkSkillGrant(grant, content, how)).toEqual({ valid: true });
  });

  test("holds for an exact copy elsewhere, since it binds to the content", () => {
    const content = makeSkill();
    const directory = join(temporaryFolder(), "copy");
    cpSync(content.directory, directory, { recursive: true, verbatimSymlinks: true });
    const copy: SkillContent = { form: "directory", directory, location: join(directory, "SKILL.md") };
    expect(checkSkillGrant(grantFor(content), copy, how)).toEqual({ valid: true });
  });

  test.each<[string, (content: SkillContent) => void, { path: string; change: string }[]]>([
    [
      "an edit",
      (content) => writeFileSync(script(content), "echo two and more\n"),
      [{ path: "scripts/run.sh", change: "changed" }],
    ],
    [
      "an edit of the same length with the old time put back",
      (content) => {
        const { atime, mtime } = statSync(script(content));
        writeFileSync(script(content), "echo two\n");
        utimesSync(script(content), atime, mtime);
      },
      [{ path: "scripts/run.sh", change: "changed" }],
    ],
    [
      "an added file",
      (content) => writeFileSync(join(content.directory, "new.md"), ""),
      [{ path: "new.md", change: "added" }],
    ],
    [
      "a removed file",
      (content) => rmSync(join(content.directory, "notes.md")),
      [{ path: "notes.md", change: "removed" }],
    ],
    [
      "a renamed file",
      (content) => renameSync(join(content.directory, "notes.md"), join(content.directory, "n.md")),
      [
        { path: "n.md", change: "added" },
        { path: "notes.md", change: "removed" },
      ],
    ],
    [
      "a file that became a link to the same bytes",
      (content) => {
        renameSync(script(content), join(content.directory, "..", "moved.sh"));
        symlinkSync("../../moved.sh", script(content));
      },
      [{ path: "scripts/run.sh", change: "changed" }],
    ],
    [
      "a link that leads elsewhere",
      (content) => {
        unlinkSync(join(content.directory, "alias.md"));
        symlinkSync("/etc/passwd", join(content.directory, "alias.md"));
      },
      [{ path: "alias.md", change: "changed" }],
    ],
  ])("ends with %s, and shows it", (_, change, changes) => {
    const content = makeSkill();
    const grant = grantFor(content);
    change(content);
    expect(checkSkillGrant(grant, content, how)).toEqual({ valid: false, changes });
  });

  test.runIf(process.platform !== "win32")("ends when a file becomes executable", () => {
    const content = makeSkill();
    chmodSync(script(content), 0o644);
    const grant = grantFor(content);
    chmodSync(script(content), 0o744);
    expect(checkSkillGrant(grant, content, how)).toEqual({
      valid: false,
      changes: [{ path: "scripts/run.sh", change: "mode" }],
    });
  });

  test("ends when the skill cannot be covered any more, and says why", () => {
    const content = makeSkill();
    const grant = grantFor(content);
    renameSync(content.location, join(content.directory, "..", "SKILL.md"));
    symlinkSync("../SKILL.md", content.location);
    expect(checkSkillGrant(grant, content, how)).toMatchObject({
      valid: false,
      diagnostic: { code: "identity.skill-file-outside" },
    });
  });
});

test("a use does not believe the stamps", () => {
  const content = makeSkill();
  const before = grantFor(content);
  writeFileSync(join(content.directory, "notes.md"), "nodes");
  const stampsOfNow = new Map(grantFor(content).files.map((file) => [file.path, file.stamp]));
  const files = before.files.map((file) => ({ ...file, stamp: stampsOfNow.get(file.path) ?? "" }));
  const forged: SkillGrant = { ...before, files };
  expect(checkSkillGrant(forged, content, LIST)).toEqual({ valid: true });
  expect(checkSkillGrant(forged, content, USE)).toEqual({
    valid: false,
    changes: [{ path: "notes.md", change: "changed" }],
  });
});

test("grants are looked for by name, those made at the same place first", () => {
  const grant = (name: string, location: string): SkillGrant => ({
    name,
    location,
    digest: "",
    files: [],
    decidedAt: "",
  });
  const all = [grant("a", "/one"), grant("b", "/two"), grant("a", "/two")];
  expect(findSkillGrants(all, "a", "/two").map((found) => found.location)).toEqual(["/two", "/one"]);
  expect(findSkillGrants(all, "c", "/one")).toEqual([]);
});
