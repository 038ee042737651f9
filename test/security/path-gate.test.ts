/** Every way out of a skill's folder that we know: none of them reads a byte outside. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { checkContainedPath, openContained } from "@metier/base/files";
import { readResource } from "@metier/skills";
import { describe, expect, onTestFinished, test } from "vitest";
import { ROOT } from "../support/repository.ts";
import { temporaryFolder, writeTree } from "../support/temporary.ts";
import { verifies } from "../support/verifies.ts";
import { hostileSkill, SECRET, tryRead } from "./hostile-skill.ts";

/** Paths that must be refused by their text alone, before the disk is touched. */
const HOSTILE_PATHS: readonly string[] = [
  "..",
  "../",
  "../outside/secret.txt",
  "../../outside/secret.txt",
  "../pdf-evil/secret.txt",
  "../pdf/SKILL.md",
  "references/../../../outside/secret.txt",
  "references/../SKILL.md",
  "references/..",
  "./../../outside/secret.txt",
  "././../../outside/secret.txt",
  ".. /../outside/secret.txt",
  ".../secret.txt",
  "... /secret.txt",
  ". ./secret.txt",
  "references/.. /guide.md",
  "/",
  "/etc/passwd",
  "//etc/passwd",
  "///etc/passwd",
  "//server/share/secret.txt",
  "/proc/self/environ",
  "/dev/stdin",
  "\\etc\\passwd",
  "\\\\server\\share\\secret.txt",
  "\\\\?\\C:\\secret.txt",
  "..\\..\\outside\\secret.txt",
  "references\\..\\..\\outside\\secret.txt",
  "references\\guide.md",
  "C:",
  "C:\\Windows\\win.ini",
  "c:/Windows/win.ini",
  "C:secret.txt",
  "file:///etc/passwd",
  "https://example.com/secret.txt",
  "%2e%2e/outside/secret.txt",
  "%2E%2E%2Foutside%2Fsecret.txt",
  "..%2foutside/secret.txt",
  "%2e%2e%5coutside",
  "%252e%252e/outside/secret.txt",
  "%2fetc%2fpasswd",
  "references/%2e%2e/%2e%2e/outside/secret.txt",
  "%c0%ae%c0%ae/outside/secret.txt",
  "%c1%9c..",
  "%e0%80%ae%e0%80%ae/outside",
  "%f0%80%80%ae/outside",
  "%u002e%u002e/outside/secret.txt",
  "%uff0e%uff0e/outside/secret.txt",
  "references/guide.md%00.png",
  "references/guide.md\0",
  "references/guide.md\0.png",
  "\0",
  "references/\nguide.md",
  "references/\u001b[2Jguide.md",
  "references/guide.md\r",
  "references\u007f/guide.md",
  "",
  ".",
  "./",
  "./.",
  "references//guide.md",
  "references/",
  "references/guide.md/",
  "references/\ud800guide.md",
  `${"a/".repeat(3000)}b`,
  "x".repeat(256),
  `references/${"é".repeat(128)}`,
];

/** Paths that are odd but may be file names: they are looked for in the folder and are not there. */
const ODD_PATHS: readonly string[] = [
  "~/.ssh/id_rsa",
  "~",
  "$HOME/secret.txt",
  "$(cat secret.txt)",
  "`id`",
  "-rf",
  "．．/outside/secret.txt",
  "‥/outside/secret.txt",
  "references∕..∕secret.txt",
  "references/guide.md:stream",
  "references/guide.md::$DATA",
  "CON",
  "*",
  "references/*.md",
  "{a,b}",
  "references/guide.md/secret.txt",
  "constructor",
  "__proto__",
];

verifies([55, 180], "hostile paths are refused by their text alone", () => {
  const { skill } = hostileSkill();
  expect(HOSTILE_PATHS.length).toBeGreaterThanOrEqual(60);
  for (const path of HOSTILE_PATHS) {
    expect(checkContainedPath(path), JSON.stringify(path)).toMatchObject({ ok: false });
    expect(["outside", "invalid"], JSON.stringify(path)).toContain(tryRead(skill, path).reason);
  }
});

verifies(180, "odd names are looked for inside the folder and nowhere else", () => {
  const { skill } = hostileSkill();
  for (const path of ODD_PATHS) expect(tryRead(skill, path), path).toEqual({ reason: "missing" });
});

test("what is no text is no path", () => {
  const { skill } = hostileSkill();
  for (const path of [undefined, null, 7, ["SKILL.md"], { path: "SKILL.md" }]) {
    expect(tryRead(skill, path as unknown as string)).toEqual({ reason: "invalid" });
  }
});

test("a plain path and one that begins with `./` are read", () => {
  const { skill } = hostileSkill();
  expect(tryRead(skill, "references/guide.md")).toEqual({ text: "inside" });
  expect(tryRead(skill, "./references/./guide.md")).toEqual({ text: "inside" });
});

describe("links", () => {
  verifies([180, 181], "links that lead out are refused, whatever they look like", () => {
    const { skill, directory, outside } = hostileSkill();
    const links: Readonly<Record<string, string>> = {
      absolute: join(outside, "secret.txt"),
      relative: "../../outside/secret.txt",
      winding: "references/../../../outside/secret.txt",
      "references/deep": "../../../outside/secret.txt",
      folder: outside,
      "folder-relative": "../../outside",
      sibling: "../pdf-evil/secret.txt",
      parent: "..",
      filesystem: "/",
      chain: "absolute",
      "chain-of-folders": "folder",
      environment: "/proc/self/environ",
      zero: "/dev/zero",
      terminal: "/dev/tty",
      stdin: "/dev/fd/0",
      "own-process": "/proc/self/root",
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(directory, name));
    const inFolders = [
      "folder/secret.txt",
      "folder-relative/secret.txt",
      "chain-of-folders/references/guide.md",
      "parent/pdf-evil/secret.txt",
      "filesystem/etc/passwd",
      "own-process/etc/passwd",
    ];
    for (const path of [...Object.keys(links), ...inFolders]) {
      // Where a device or `/proc` is missing, the link dangles.
      expect(["outside", "missing", "denied"], path).toContain(tryRead(skill, path).reason);
    }
    expect(tryRead(skill, "absolute")).toEqual({ reason: "outside" });
    expect(tryRead(skill, "folder/secret.txt")).toEqual({ reason: "outside" });
  });

  verifies(180, "links that stay inside are followed", () => {
    const { skill, directory } = hostileSkill();
    symlinkSync("references/guide.md", join(directory, "GUIDE"));
    symlinkSync("references", join(directory, "docs"));
    symlinkSync(join(directory, "docs"), join(directory, "absolute"));
    symlinkSync("../pdf/references/guide.md", join(directory, "out-and-in"));
    for (const path of ["GUIDE", "docs/guide.md", "absolute/guide.md", "out-and-in"]) {
      expect(tryRead(skill, path), path).toEqual({ text: "inside" });
    }
  });

  test("a link to nothing or to itself leads nowhere", () => {
    const { skill, directory } = hostileSkill();
    symlinkSync("nothing", join(directory, "dangling"));
    symlinkSync("circle", join(directory, "circle"));
    expect(tryRead(skill, "dangling")).toEqual({ reason: "missing" });
    expect(tryRead(skill, "circle")).toEqual({ reason: "missing" });
  });

  verifies(181, "a skill folder that has become a link out of the skills directories is refused", () => {
    const { skill, directory, outside } = hostileSkill();
    renameSync(directory, `${directory}-moved`);
    symlinkSync(outside, directory);
    expect(tryRead(skill, "secret.txt")).toEqual({ reason: "outside" });
    expect(() => readResource(skill, "secret.txt", { roots: [outside] })).not.toThrow();
  });

  test("a skill folder that is a link into another skills directory in use is read", () => {
    const { skill, directory } = hostileSkill();
    const other = realpathSync(temporaryFolder());
    renameSync(directory, join(other, "pdf"));
    symlinkSync(join(other, "pdf"), directory);
    expect(tryRead(skill, "references/guide.md")).toEqual({ reason: "outside" });
    expect(readResource(skill, "references/guide.md", { roots: [other] })).toMatchObject({ text: "inside" });
  });

  test("a folder that no longer holds the skill gives nothing out", () => {
    const { skill, directory } = hostileSkill();
    rmSync(join(directory, "SKILL.md"));
    expect(tryRead(skill, "references/guide.md")).toEqual({ reason: "missing" });
    rmSync(directory, { recursive: true });
    expect(tryRead(skill, "references/guide.md")).toEqual({ reason: "missing" });
  });

  test("a hard link is a file of the folder like any other", () => {
    const { skill, directory } = hostileSkill();
    linkSync(join(directory, "references/guide.md"), join(directory, "hard.md"));
    expect(tryRead(skill, "hard.md")).toEqual({ text: "inside" });
  });
});

describe("what is no file", () => {
  test("a folder is refused", () => {
    const { skill } = hostileSkill();
    expect(tryRead(skill, "references")).toEqual({ reason: "not-a-file" });
  });

  test("a pipe that nobody writes to is refused without waiting", () => {
    const { skill, directory } = hostileSkill();
    execFileSync("mkfifo", [join(directory, "pipe")]);
    symlinkSync("pipe", join(directory, "link-to-pipe"));
    expect(tryRead(skill, "pipe")).toEqual({ reason: "not-a-file" });
    expect(tryRead(skill, "link-to-pipe")).toEqual({ reason: "not-a-file" });
  });

  test("a socket is refused", async () => {
    const { skill, directory } = hostileSkill();
    const server = createServer();
    onTestFinished(() => void server.close());
    // Relative, because the path of a socket may have 100 bytes or so.
    await new Promise<void>((ready) => server.listen(relative(process.cwd(), join(directory, "s")), ready));
    expect(tryRead(skill, "s")).toEqual({ reason: "not-a-file" });
  });

  test("a device is refused", (context) => {
    const { skill, directory } = hostileSkill();
    const made = spawnSync("mknod", [join(directory, "zero"), "c", "1", "5"]);
    context.skip(made.status !== 0, "Making a device needs more rights than this user has.");
    // Where folders are mounted without devices, it cannot even be opened.
    expect(["not-a-file", "denied"]).toContain(tryRead(skill, "zero").reason);
  });
});

test("a file without read permission is denied", () => {
  const folder = realpathSync(temporaryFolder());
  chmodSync(folder, 0o755);
  writeTree(folder, { "locked.txt": SECRET });
  chmodSync(join(folder, "locked.txt"), 0o000);
  const gate = pathToFileURL(join(ROOT, "packages/base/src/files/open-contained.ts")).href;
  const code = `import { openContained } from ${JSON.stringify(gate)};
    process.stdout.write(openContained(process.argv[1], "locked.txt").reason ?? "opened");`;
  // For root nothing is locked, so it asks as nobody.
  const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", code, folder], {
    cwd: folder,
    encoding: "utf8",
    ...asNobody,
  });
  expect(child.stdout).toBe("denied");
});

test("a folder given by a path with a link in it opens nothing: the gate wants real paths", () => {
  const { directory } = hostileSkill();
  const link = join(temporaryFolder(), "link");
  symlinkSync(directory, link);
  expect(openContained(link, "references/guide.md")).toMatchObject({ ok: false, reason: "outside" });
});

test("a folder named like the skill's folder and more is outside of it", () => {
  const { skill, directory } = hostileSkill();
  mkdirSync(`${directory}2`);
  writeFileSync(join(`${directory}2`, "secret.txt"), SECRET);
  symlinkSync(join(`${directory}2`, "secret.txt"), join(directory, "near"));
  expect(tryRead(skill, "near")).toEqual({ reason: "outside" });
});
