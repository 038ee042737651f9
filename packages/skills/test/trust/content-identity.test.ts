import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, renameSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { type ContentIdentity, compareIdentity, identifyContent } from "../../src/trust/content-identity.ts";
import { IDENTITY_LIMITS, type SkillContent } from "../../src/trust/list-content.ts";

const posix = process.platform !== "win32";
const SKILL = skillText("name: demo\ndescription: Shows.");

function makeSkill(files: Readonly<Record<string, string | Buffer>> = {}): SkillContent {
  const directory = join(temporaryFolder(), "demo");
  writeTree(directory, { "SKILL.md": SKILL, ...files });
  return { form: "directory", directory, location: join(directory, "SKILL.md") };
}

function identify(content: SkillContent): ContentIdentity {
  const outcome = identifyContent(content);
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  return outcome.value;
}

function faultOf(content: SkillContent, limits = IDENTITY_LIMITS): string | undefined {
  const outcome = identifyContent(content, limits);
  return outcome.ok ? undefined : outcome.refusal.code;
}

/** The definition, written down a second time and otherwise. */
function expectedDigest(
  files: readonly { readonly path: string; readonly content: string; readonly mode: 0 | 1 | 2 }[],
): string {
  const parts = files.flatMap(({ path, content, mode }) => {
    const name = Buffer.from(path, "utf8");
    const bytes = Buffer.from(content, "utf8");
    const length = Buffer.from(name.length.toString(16).padStart(8, "0"), "hex");
    const size = Buffer.from(bytes.length.toString(16).padStart(16, "0"), "hex");
    return [length, name, size, Buffer.from([mode]), createHash("sha256").update(bytes).digest()];
  });
  return `sha256:${createHash("sha256").update(Buffer.concat(parts)).digest("hex")}`;
}

describe("the digest", () => {
  test("is SHA-256 over path length, path, size, executable bit and file digest, sorted by path bytes", () => {
    const content = makeSkill({
      "scripts/run.sh": "echo hi\n",
      "a.txt": "",
      "Z.txt": "last of the capitals",
    });
    if (posix) chmodSync(join(content.directory, "scripts/run.sh"), 0o755);
    const identity = identify(content);
    expect(identity.digest).toBe(
      expectedDigest([
        { path: "SKILL.md", content: SKILL, mode: 0 },
        { path: "Z.txt", content: "last of the capitals", mode: 0 },
        { path: "a.txt", content: "", mode: 0 },
        { path: "scripts/run.sh", content: "echo hi\n", mode: posix ? 1 : 0 },
      ]),
    );
    expect(identity.files[2]).toMatchObject({ path: "a.txt", kind: "file", size: 0, executable: false });
    expect(identity.files[2]?.digest).toBe(`sha256:${createHash("sha256").update("").digest("hex")}`);
  });

  test("sorts by UTF-8 bytes, where JavaScript's own order differs", () => {
    const content = makeSkill({ "\u{1f600}.md": "astral", "\uff5e.md": "fullwidth" });
    expect(identify(content).files.map((file) => file.path)).toEqual([
      "SKILL.md",
      "\uff5e.md",
      "\u{1f600}.md",
    ]);
  });

  test("is the same wherever the folder stands and however it is reached", () => {
    const content = makeSkill({ "a/b.md": "b" });
    const before = identify(content).digest;
    const root = temporaryFolder();
    renameSync(content.directory, join(root, "elsewhere"));
    symlinkSync(join(root, "elsewhere"), join(root, "link"));
    const location = join(root, "link", "SKILL.md");
    expect(identify({ form: "directory", directory: join(root, "link"), location }).digest).toBe(before);
  });

  test("leaves nothing out: hidden files, `.git`, `node_modules` and ignored files count", () => {
    const content = makeSkill({
      ".gitignore": "*",
      ".git/config": "x",
      "node_modules/a/index.js": "1",
      "b~": "",
    });
    expect(identify(content).files.map((file) => file.path)).toEqual([
      ".git/config",
      ".gitignore",
      "SKILL.md",
      "b~",
      "node_modules/a/index.js",
    ]);
  });

  test("takes names as bytes: a newline, and two Unicode forms of one name, are names like others", () => {
    const content = makeSkill();
    writeFileSync(join(content.directory, "two\nlines.md"), "1");
    writeFileSync(join(content.directory, "caf\u00e9.md"), "composed");
    const composed = identify(content).digest;
    renameSync(join(content.directory, "caf\u00e9.md"), join(content.directory, "cafe\u0301.md"));
    const decomposed = identify(content);
    expect(decomposed.digest).not.toBe(composed);
    expect(decomposed.files.map((file) => file.path)).toContain("two\nlines.md");
  });

  test("hashes a file larger than one read", () => {
    const content = makeSkill();
    const big = join(content.directory, "big.bin");
    writeFileSync(big, "");
    truncateSync(big, 3 * 1024 * 1024 + 7);
    const expected = createHash("sha256")
      .update(Buffer.alloc(3 * 1024 * 1024 + 7))
      .digest("hex");
    expect(identify(content).files[1]).toMatchObject({ path: "big.bin", digest: `sha256:${expected}` });
  });

  test("of a flat skill covers its one file under its file name, also over a link", () => {
    const root = temporaryFolder();
    writeTree(root, { "demo.md": SKILL, "neighbour.md": "not part of it" });
    symlinkSync(join(root, "demo.md"), join(root, "alias.md"));
    const flat = (name: string): ContentIdentity =>
      identify({ form: "markdown", directory: root, location: join(root, name) });
    expect(flat("demo.md").digest).toBe(expectedDigest([{ path: "demo.md", content: SKILL, mode: 0 }]));
    expect(flat("alias.md").digest).toBe(expectedDigest([{ path: "alias.md", content: SKILL, mode: 0 }]));
  });
});

describe("links", () => {
  test("count as their target text and are not followed", () => {
    const content = makeSkill();
    const outside = join(temporaryFolder(), "secret");
    writeFileSync(outside, "one");
    symlinkSync(outside, join(content.directory, "link"));
    const before = identify(content);
    expect(before.digest).toBe(
      expectedDigest([
        { path: "SKILL.md", content: SKILL, mode: 0 },
        { path: "link", content: outside, mode: 2 },
      ]),
    );
    writeFileSync(outside, "two");
    expect(identify(content).digest).toBe(before.digest);
  });

  test("differ from a file that contains the same path", () => {
    const asLink = makeSkill();
    symlinkSync("/etc/passwd", join(asLink.directory, "notes"));
    const asFile = makeSkill({ notes: "/etc/passwd" });
    expect(identify(asLink).digest).not.toBe(identify(asFile).digest);
    expect(compareIdentity(identify(asFile).files, identify(asLink).files)).toEqual([
      { path: "notes", change: "changed" },
    ]);
  });

  test("that form a farm of cycles are entries, not ways", () => {
    const content = makeSkill();
    for (let index = 0; index < 50; index++) symlinkSync("..", join(content.directory, `up-${index}`));
    symlinkSync("nowhere", join(content.directory, "dangling"));
    symlinkSync("self", join(content.directory, "self"));
    expect(identify(content).files).toHaveLength(53);
  });

  test("may make up the skill file as long as they stay in the folder", () => {
    const content = makeSkill({ "body.md": SKILL });
    renameSync(content.location, join(content.directory, "old"));
    symlinkSync("body.md", content.location);
    expect(faultOf(content)).toBeUndefined();
  });

  test("give no identity to a skill whose skill file is elsewhere", () => {
    const content = makeSkill();
    const outside = join(temporaryFolder(), "SKILL.md");
    renameSync(content.location, outside);
    symlinkSync(outside, content.location);
    const outcome = identifyContent(content);
    expect(outcome).toMatchObject({ ok: false, refusal: { code: "identity.skill-file-outside" } });
    expect(!outcome.ok && outcome.refusal.message).toContain(outside);
  });
});

describe("what has no identity is said, not thrown", () => {
  test("too many entries, folders included", () => {
    const content = makeSkill();
    for (let index = 0; index < 5; index++) mkdirSync(join(content.directory, `empty-${index}`));
    expect(faultOf(content, { entries: 5, bytes: 1_000 })).toBe("identity.limit");
    expect(faultOf(content, { entries: 6, bytes: 1_000 })).toBeUndefined();
  });

  test("too many bytes, all files together", () => {
    const content = makeSkill({ "a.txt": "x".repeat(600), "b.txt": "x".repeat(600) });
    expect(faultOf(content, { entries: 10, bytes: 1_000 })).toBe("identity.limit");
  });

  test.runIf(posix)("a FIFO, without waiting for its other end", () => {
    const content = makeSkill();
    execFileSync("mkfifo", [join(content.directory, "pipe")]);
    expect(faultOf(content)).toBe("identity.special-file");
  });

  test.runIf(process.platform === "linux")("a name that is not UTF-8", () => {
    const content = makeSkill();
    const name = Buffer.concat([Buffer.from(`${content.directory}/caf`), Buffer.from([0xe9])]);
    writeFileSync(name, "");
    const outcome = identifyContent(content);
    expect(outcome).toMatchObject({ ok: false, refusal: { code: "identity.name-not-utf8" } });
    expect(!outcome.ok && outcome.refusal.message).toContain("caf\\xe9");
  });

  test("a skill that is gone, or whose skill file is a folder", () => {
    const missing = join(temporaryFolder(), "gone");
    const location = join(missing, "SKILL.md");
    expect(faultOf({ form: "directory", directory: missing, location })).toBe("identity.unreadable");
    mkdirSync(location, { recursive: true });
    expect(faultOf({ form: "directory", directory: missing, location })).toBe("identity.special-file");
  });
});

describe("comparing", () => {
  test("names every added, removed and changed file, sorted", () => {
    const content = makeSkill({ "keep.md": "same", "edit.md": "old", "gone.md": "x", "move.md": "moved" });
    const before = identify(content);
    writeTree(content.directory, { "edit.md": "new", "added.md": "y" });
    renameSync(join(content.directory, "move.md"), join(content.directory, "moved.md"));
    renameSync(join(content.directory, "gone.md"), join(temporaryFolder(), "gone.md"));
    expect(compareIdentity(before.files, identify(content).files)).toEqual([
      { path: "added.md", change: "added" },
      { path: "edit.md", change: "changed" },
      { path: "gone.md", change: "removed" },
      { path: "move.md", change: "removed" },
      { path: "moved.md", change: "added" },
    ]);
  });

  test.runIf(posix)("tells a changed executable bit from changed content", () => {
    const content = makeSkill({ "run.sh": "echo" });
    const file = join(content.directory, "run.sh");
    chmodSync(file, 0o644);
    const before = identify(content);
    chmodSync(file, 0o654);
    const after = identify(content);
    expect(after.digest).not.toBe(before.digest);
    expect(compareIdentity(before.files, after.files)).toEqual([{ path: "run.sh", change: "mode" }]);
    chmodSync(file, 0o600);
    expect(identify(content).digest).toBe(before.digest);
  });
});
