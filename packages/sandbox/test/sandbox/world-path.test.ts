/** The gate of the file tools: what a run sees, and nothing else, in words that tell nothing about the rest. */
import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRunFolders } from "../../../../test/support/run-world.ts";
import { isInWorld, type World } from "../../src/sandbox/world/world.ts";
import { listFolder, openForReading, writeFileInWorld } from "../../src/sandbox/world/world-path.ts";

function read(world: World, path: string): string {
  const opened = openForReading(world, path);
  if (!opened.ok) return opened.reason;
  try {
    return readFileSync(opened.file.descriptor, "utf8");
  } finally {
    closeSync(opened.file.descriptor);
  }
}

describe("reading", () => {
  test("starts at the working directory and takes absolute paths", () => {
    const folders = createRunFolders();
    folders.write({ "project/a/b.txt": "b", "skills/pdf/SKILL.md": "skill" });
    const world = folders.world();
    expect(read(world, "a/b.txt")).toBe("b");
    expect(read(world, "./a/../a/b.txt")).toBe("b");
    expect(read(world, join(folders.skill, "SKILL.md"))).toBe("skill");
  });

  test("gives nothing outside, and says what the run sees", () => {
    const folders = createRunFolders();
    folders.write({ "other/secret.txt": "secret", "home/notes.txt": "notes" });
    const world = folders.world();
    for (const path of [
      "../other/secret.txt",
      "/etc/passwd",
      "/proc/self/environ",
      join(folders.home, "notes.txt"),
    ]) {
      expect(read(world, path)).toBe("outside");
    }
    const fault = openForReading(world, "/etc/passwd");
    expect(!fault.ok && fault.message).toContain(folders.project);
  });

  test("answers for hidden files as for files that do not exist", () => {
    const folders = createRunFolders();
    folders.write({ "project/.env": "key", "project/a/.env.local": "key", "project/conf.toml": "key" });
    const world = folders.world({ privateFiles: [join(folders.project, "conf.toml")] });
    folders.write({ "project/later/.env": "key" });
    for (const path of [".env", ".env/x", "a/.env.local", "conf.toml", "later/.env"]) {
      expect(openForReading(world, path)).toEqual({
        ok: false,
        reason: "missing",
        message: `\`${path}\` does not exist.`,
      });
    }
  });

  test("follows links inside, and tells nothing about what others lead to", () => {
    const folders = createRunFolders();
    folders.write({ "project/a.txt": "a", "project/.env": "key", "other/secret.txt": "secret" });
    const link = (target: string, name: string): void => symlinkSync(target, join(folders.project, name));
    link("a.txt", "inside");
    link(join(folders.root, "other/secret.txt"), "file");
    link(join(folders.root, "other/none.txt"), "nothing");
    link(join(folders.root, "other"), "folder");
    link(".env", "env");
    link("loop", "loop");
    const world = folders.world();
    expect(read(world, "inside")).toBe("a");
    const answers = [
      "file",
      "nothing",
      "folder",
      "file/x",
      "folder/secret.txt",
      "folder/none",
      "env",
      "loop",
    ].map((path) => {
      const opened = openForReading(world, path);
      return opened.ok ? "opened" : opened.message.replace(path, "X");
    });
    expect(new Set(answers)).toEqual(new Set(["`X` does not exist."]));
  });

  test("refuses folders, pipes and what is no path", () => {
    const folders = createRunFolders();
    mkdirSync(join(folders.project, "folder"));
    const world = folders.world();
    expect(read(world, "folder")).toBe("not-a-file");
    expect(read(world, ".")).toBe("not-a-file");
    for (const path of ["", "a\0b", "x".repeat(5000), "\ud800"]) expect(read(world, path)).toBe("invalid");
  });
});

describe("listing", () => {
  test("leaves out what the run does not see", () => {
    const folders = createRunFolders();
    folders.write({ "home/a.txt": "", "home/.ssh/id": "", "home/.env": "", "home/b/c.txt": "" });
    symlinkSync("a.txt", join(folders.home, "link"));
    const world = folders.world({ cwd: folders.home });
    expect(listFolder(world, ".")).toEqual({
      ok: true,
      realPath: folders.home,
      entries: [
        { name: "a.txt", kind: "file" },
        { name: "b", kind: "folder" },
        { name: "link", kind: "link" },
      ],
    });
  });

  test("lists no hidden folder, no folder outside and no file", () => {
    const folders = createRunFolders();
    folders.write({ "home/.ssh/id": "", "home/a.txt": "" });
    const world = folders.world({ cwd: folders.home });
    for (const [path, reason] of [
      [".ssh", "missing"],
      ["..", "outside"],
      ["a.txt", "not-a-file"],
    ] as const) {
      expect(listFolder(world, path)).toMatchObject({ ok: false, reason });
    }
  });

  test("says of every path whether the run sees it", () => {
    const folders = createRunFolders();
    const world = folders.world();
    expect(isInWorld(world, join(folders.project, "new"))).toBe(true);
    expect(isInWorld(world, `${folders.project}-other`)).toBe(false);
    expect(isInWorld(world, "/")).toBe(false);
  });
});

describe("writing", () => {
  test("makes files with the folders above them in the work folder", () => {
    const folders = createRunFolders();
    const world = folders.world();
    const path = join(folders.work, "a/b/c.txt");
    expect(writeFileInWorld(world, path, "text")).toEqual({ ok: true, realPath: path });
    expect(readFileSync(path, "utf8")).toBe("text");
    expect(readdirSync(join(folders.work, "a/b"))).toEqual(["c.txt"]);
    expect(writeFileInWorld(world, join(folders.work, ".env"), "own")).toMatchObject({ ok: true });
    expect(read(world, join(folders.work, ".env"))).toBe("own");
  });

  test("keeps the mode of a file it replaces, and touches no other name of it", () => {
    const folders = createRunFolders();
    folders.write({ "project/run.sh": "old" });
    const file = join(folders.project, "run.sh");
    chmodSync(file, 0o750);
    linkSync(file, join(folders.root, "second-name"));
    expect(writeFileInWorld(folders.world({ write: true }), "run.sh", "new")).toMatchObject({ ok: true });
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(statSync(file).mode & 0o777).toBe(0o750);
    expect(readFileSync(join(folders.root, "second-name"), "utf8")).toBe("old");
  });

  test("writes nowhere else, and says where it may", () => {
    const folders = createRunFolders();
    folders.write({ "project/a.txt": "old", "project/.claude/x": "", "skills/pdf/SKILL.md": "" });
    const reading = folders.world();
    const writing = folders.world({ write: true });
    for (const [world, path, reason] of [
      [reading, "a.txt", "denied"],
      [reading, "new/file.txt", "denied"],
      [reading, join(folders.skill, "SKILL.md"), "denied"],
      [reading, "../other.txt", "outside"],
      [writing, ".claude/x", "denied"],
      [writing, ".claude/new/y", "denied"],
      [writing, ".vscode/tasks.json", "denied"],
      [writing, ".git/hooks/pre-commit", "denied"],
      [writing, ".mcp.json", "denied"],
      [writing, ".env", "denied"],
      [writing, ".", "denied"],
    ] as const) {
      expect(`${path}: ${describeWrite(world, path)}`).toBe(`${path}: ${reason}`);
    }
    const refused = writeFileInWorld(reading, "a.txt", "new");
    expect(!refused.ok && refused.message).toContain(folders.work);
    expect(readFileSync(join(folders.project, "a.txt"), "utf8")).toBe("old");
    expect(readdirSync(folders.project).sort()).toEqual([".claude", "a.txt"]);
  });

  test("refuses links, wherever they lead, and folders", () => {
    const folders = createRunFolders();
    folders.write({ "project/a.txt": "old", "other/file.txt": "old" });
    const world = folders.world();
    const at = (name: string): string => join(folders.work, name);
    symlinkSync(join(folders.root, "other/file.txt"), at("file"));
    symlinkSync(join(folders.root, "other"), at("folder"));
    symlinkSync(join(folders.root, "other/none"), at("nothing"));
    symlinkSync(folders.project, at("project"));
    mkdirSync(at("real"));
    expect(describeWrite(world, at("file"))).toBe("denied");
    expect(describeWrite(world, at("nothing"))).toBe("denied");
    expect(describeWrite(world, at("folder/file.txt"))).toBe("missing");
    expect(describeWrite(world, at("nothing/file.txt"))).toBe("missing");
    expect(describeWrite(world, at("project/a.txt"))).toBe("denied");
    expect(describeWrite(world, at("real"))).toBe("not-a-file");
    expect(lstatSync(at("file")).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(folders.root, "other"))).toEqual(["file.txt"]);
    expect(readFileSync(join(folders.project, "a.txt"), "utf8")).toBe("old");
  });
});

function describeWrite(world: World, path: string): string {
  const written = writeFileInWorld(world, path, "new");
  return written.ok ? "written" : written.reason;
}
