import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { SkillMountError, SkillResourceError } from "@metier/base/errors";
import { listFiles } from "@metier/base/files";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill as text } from "../../../../test/support/world.ts";
import { type Mount, type MountOptions, mountSkills } from "../../src/disclose/mount-skills.ts";
import type { Skill } from "../../src/skill/skill.ts";

interface Scene {
  readonly workspace: string;
  readonly skills: readonly Skill[];
  readonly source: (path: string) => string;
  mount(options?: Partial<MountOptions>, skills?: readonly Skill[]): Promise<Mount>;
}

async function sceneWith(files: Readonly<Record<string, string>>): Promise<Scene> {
  const world = createWorld();
  const source = (path: string): string => join(world.root, "home/.metier/skills", path);
  world.write(
    Object.fromEntries(Object.entries(files).map(([path, file]) => [`home/.metier/skills/${path}`, file])),
  );
  const skills = (await world.metier()).list();
  const workspace = temporaryFolder();
  return {
    workspace,
    skills,
    source,
    mount: (options = {}, selected = skills) =>
      mountSkills(selected, { workspace, target: "skills", ...options }),
  };
}

const PDF = {
  "pdf/SKILL.md": text("pdf"),
  "pdf/scripts/run.sh": "echo run",
  "pdf/references/a/b.md": "deep",
};

function filesBelow(folder: string): readonly string[] {
  const listing = listFiles(folder, 1000);
  if (!listing.ok) throw new Error(listing.detail);
  return listing.files.map(({ path }) => path);
}

/** Refused for this reason, and the workspace is as it was. */
async function expectRefused(
  scene: Scene,
  reason: string,
  options: Partial<MountOptions> = {},
): Promise<void> {
  const before = filesBelow(scene.workspace);
  await expect(scene.mount(options)).rejects.toMatchObject({ code: "skill.mount", reason });
  expect(filesBelow(scene.workspace)).toEqual(before);
}

describe("mounting by copy", () => {
  verifies([119, "case 137"], "a skill folder is copied recursively, with its modes", async () => {
    const { workspace, mount, source } = await sceneWith(PDF);
    chmodSync(source("pdf/scripts/run.sh"), 0o751);
    chmodSync(source("pdf/references/a/b.md"), 0o440);
    const { target, skills, diagnostics } = await mount();
    expect(target).toBe(join(workspace, "skills"));
    expect(diagnostics).toEqual([]);
    expect(skills).toMatchObject([{ directory: join(workspace, "skills/pdf"), mountPath: "skills/pdf" }]);
    expect(filesBelow(join(target, "pdf"))).toEqual(["SKILL.md", "references/a/b.md", "scripts/run.sh"]);
    expect(statSync(join(target, "pdf/scripts/run.sh")).mode & 0o777).toBe(0o751);
    expect(statSync(join(target, "pdf/references/a/b.md")).mode & 0o777).toBe(0o440);
    expect(readFileSync(join(target, "pdf/references/a/b.md"), "utf8")).toBe("deep");
  });

  verifies(
    "case 137",
    "an agent in the workspace reads the secret word of the skill it was given",
    async () => {
      const { workspace, mount } = await sceneWith({
        "pdf/SKILL.md": text("pdf", "", "Read references/word.txt."),
        "pdf/references/word.txt": "heliotrope",
      });
      const { skills } = await mount();
      const read = execFileSync("cat", [`${skills[0]?.mountPath}/references/word.txt`], { cwd: workspace });
      expect(read.toString()).toBe("heliotrope");
    },
  );

  verifies([2, "case 137"], "a flat skill is wrapped as `<name>/SKILL.md`", async () => {
    const { mount, source } = await sceneWith({ "flat.md": text("flat", "license: MIT") });
    const { target } = await mount();
    expect(filesBelow(join(target, "flat"))).toEqual(["SKILL.md"]);
    expect(readFileSync(join(target, "flat/SKILL.md"), "utf8")).toBe(readFileSync(source("flat.md"), "utf8"));
  });

  test("a YAML skill and one given as an object become a `SKILL.md` that means the same", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/y.yaml":
        'name: y\ndescription: "It\'s: one"\nallowed-tools: [Read]\ninstructions: |\n  Do y.\n',
    });
    const metier = await world.metier();
    const given = { name: "given", description: "Given.", instructions: "Do it." };
    await metier.register(given);
    const workspace = temporaryFolder();
    const bodyOf = (): string => given.instructions;
    const { target } = await mountSkills(metier.list(), { workspace, target: "skills", bodyOf });
    const mounted = await createWorld().metier({ paths: [target] });
    const { manifest } = metier.require("y");
    expect(mounted.require("y")).toMatchObject({ description: "It's: one", manifest, form: "directory" });
    expect(readFileSync(join(target, "y/SKILL.md"), "utf8")).toContain('allowed-tools: ["Read"]');
    expect(readFileSync(join(target, "given/SKILL.md"), "utf8")).toBe(
      '---\nname: "given"\ndescription: "Given."\n---\n\nDo it.\n',
    );
  });

  verifies("case 137", "a skill can be mounted under another name, one plain name at that", async () => {
    const scene = await sceneWith(PDF);
    for (const name of ["../pdf", "a/b", "", ".", "..", "/pdf", "a\0"]) {
      await expectRefused(scene, "invalid", { names: { pdf: name } });
    }
    const { skills } = await scene.mount({ names: { pdf: "reader" } });
    expect(skills[0]?.mountPath).toBe("skills/reader");
  });

  verifies(
    [181, "case 137"],
    "links that leave are skipped and named, links that stay lead to the copy",
    async () => {
      const { mount, source } = await sceneWith(PDF);
      symlinkSync("/etc/passwd", source("pdf/passwd"));
      symlinkSync("/etc", source("pdf/references/etc"));
      symlinkSync("nothing", source("pdf/dangling"));
      symlinkSync(source("pdf/scripts/run.sh"), source("pdf/references/run"));
      symlinkSync("references", source("pdf/docs"));
      execFileSync("mkfifo", [source("pdf/pipe")]);
      const { target, diagnostics } = await mount();
      expect(diagnostics.map(({ code }) => code)).toEqual([
        "resource.special-file",
        "link.dangling",
        "resource.link-escapes",
        "resource.link-escapes",
      ]);
      expect(filesBelow(join(target, "pdf"))).toEqual([
        "SKILL.md",
        "docs",
        "references/a/b.md",
        "references/run",
        "scripts/run.sh",
      ]);
      expect(readlinkSync(join(target, "pdf/references/run"))).toBe("../scripts/run.sh");
      expect(readFileSync(join(target, "pdf/docs/a/b.md"), "utf8")).toBe("deep");
    },
  );

  test("a link to what is not copied is left out and named", async () => {
    const { mount, source } = await sceneWith(PDF);
    mkdirSync(source("pdf/empty"));
    symlinkSync("empty", source("pdf/to-empty"));
    execFileSync("mkfifo", [source("pdf/pipe")]);
    symlinkSync("pipe", source("pdf/to-pipe"));
    const { target, diagnostics } = await mount();
    expect(diagnostics.map(({ code, path }) => [code, basename(path)])).toEqual([
      ["resource.special-file", "pipe"],
      ["link.dangling", "to-empty"],
      ["link.dangling", "to-pipe"],
    ]);
    expect(filesBelow(join(target, "pdf"))).toEqual(["SKILL.md", "references/a/b.md", "scripts/run.sh"]);
  });

  verifies("case 137", "limits hold for a file, a skill, all skills and the number of files", async () => {
    const scene = await sceneWith({
      ...PDF,
      "pdf/big": "x".repeat(5000),
      "two/SKILL.md": text("two"),
      "two/big": "y".repeat(5000),
    });
    await expectRefused(scene, "too-large", { limits: { fileBytes: 4999 } });
    await expectRefused(scene, "too-large", { limits: { skillBytes: 5010 } });
    await expectRefused(scene, "too-large", { limits: { totalBytes: 10_010 } });
    await expectRefused(scene, "too-large", { limits: { entries: 3 } });
    await scene.mount({ limits: { fileBytes: 5000, skillBytes: 5200, totalBytes: 10_300 } });
  });

  test("a limit holds for a flat skill and one given as an object", async () => {
    const flat = await sceneWith({ "flat.md": text("flat", "", "x".repeat(2000)) });
    await expectRefused(flat, "too-large", { limits: { fileBytes: 1000 } });
    const metier = await createWorld().metier();
    const given = await metier.register({ name: "given", description: "d", instructions: "x".repeat(2000) });
    const bodyOf = (): string => "x".repeat(2000);
    const options = { workspace: flat.workspace, target: "skills", bodyOf, limits: { skillBytes: 1000 } };
    await expect(mountSkills([given], options)).rejects.toMatchObject({ reason: "too-large" });
    expect(readdirSync(flat.workspace)).toEqual([]);
  });
});

describe("mounting by link", () => {
  test("a folder is linked, a flat file is linked as `SKILL.md`", async () => {
    const { mount, source } = await sceneWith({ ...PDF, "flat.md": text("flat") });
    const { target, cleanup } = await mount({ mode: "link" });
    expect(readlinkSync(join(target, "pdf"))).toBe(source("pdf"));
    expect(readlinkSync(join(target, "flat/SKILL.md"))).toBe(source("flat.md"));
    cleanup();
    expect(existsSync(target)).toBe(false);
    expect(readFileSync(source("pdf/references/a/b.md"), "utf8")).toBe("deep");
  });

  test("links that lead out of the skill are named, since they can be followed", async () => {
    const { mount, source } = await sceneWith(PDF);
    symlinkSync("/etc/passwd", source("pdf/passwd"));
    const { diagnostics } = await mount({ mode: "link" });
    expect(diagnostics).toMatchObject([{ code: "mount.link-escapes", path: source("pdf/passwd") }]);
  });
});

describe("where skills are mounted", () => {
  verifies(55, "a mount path cannot escape the workspace", async () => {
    const scene = await sceneWith(PDF);
    const refused = ["..", "../x", "a/../../x", "/tmp/x", "C:/x", "a\\b", "", "%2e%2e/x", "a\0b", "."];
    for (const target of refused) {
      await expect(scene.mount({ target }), target).rejects.toThrow(SkillMountError);
    }
    const elsewhere = temporaryFolder();
    symlinkSync(elsewhere, join(scene.workspace, "link"));
    await expectRefused(scene, "outside", { target: "link" });
    await expectRefused(scene, "outside", { target: "link/skills" });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  verifies(68, "several mounts stand beside each other under paths of their own", async () => {
    const { workspace, mount } = await sceneWith(PDF);
    const org = await mount({ target: "skills/org" });
    const project = await mount({ target: "skills/project" });
    expect(readdirSync(join(workspace, "skills"))).toEqual(["org", "project"]);
    project.cleanup();
    expect(readdirSync(join(workspace, "skills"))).toEqual(["org"]);
    org.cleanup();
    expect(readdirSync(workspace)).toEqual([]);
  });

  test("a folder that is there keeps what is in it, and nothing in it is replaced", async () => {
    const scene = await sceneWith(PDF);
    mkdirSync(join(scene.workspace, "skills/pdf"), { recursive: true });
    writeFileSync(join(scene.workspace, "skills/pdf/mine.txt"), "mine");
    await expectRefused(scene, "taken");
    await expectRefused(scene, "taken", { mode: "link" });
    rmSync(join(scene.workspace, "skills/pdf"), { recursive: true });
    writeFileSync(join(scene.workspace, "skills/mine.txt"), "mine");
    const { cleanup } = await scene.mount();
    cleanup();
    expect(filesBelow(scene.workspace)).toEqual(["skills/mine.txt"]);
  });

  verifies(
    "case 137",
    "a second mount into the same folder is refused, even after an empty first one",
    async () => {
      const scene = await sceneWith(PDF);
      const { cleanup } = await scene.mount({}, []);
      await expectRefused(scene, "taken");
      cleanup();
      await scene.mount();
      await expectRefused(scene, "taken");
    },
  );

  verifies(
    "case 137",
    "two skills of one folder name are refused, also when they differ in case only",
    async () => {
      const scene = await sceneWith({ ...PDF, "two/SKILL.md": text("two") });
      await expectRefused(scene, "duplicate", { names: { two: "pdf" } });
      await expectRefused(scene, "duplicate", { names: { two: "PDF" } });
      await expect(scene.mount({}, [...scene.skills, ...scene.skills])).rejects.toMatchObject({
        reason: "duplicate",
      });
    },
  );

  verifies("case 137", "a missing skill, a missing workspace and a file in the way are errors", async () => {
    const scene = await sceneWith({ ...PDF, "two/SKILL.md": text("two"), "flat.md": text("flat") });
    await expectRefused(scene, "missing", { workspace: join(scene.workspace, "none") });
    writeFileSync(join(scene.workspace, "file"), "");
    await expectRefused(scene, "taken", { target: "file" });
    for (const workspace of ["file", "file/below"]) {
      await expectRefused(scene, "missing", { workspace: join(scene.workspace, workspace) });
    }
    rmSync(scene.source("flat.md"));
    await expectRefused(scene, "missing");
    rmSync(scene.source("two"), { recursive: true });
    await expectRefused(scene, "missing");
  });
});

describe("cleaning up", () => {
  verifies("case 137", "a fault in the middle leaves nothing behind", async () => {
    const scene = await sceneWith({ ...PDF, "z-flat.md": text("z-flat") });
    rmSync(scene.source("z-flat.md"));
    mkdirSync(scene.source("z-flat.md"));
    await expectRefused(scene, "failed");
    expect(readdirSync(scene.workspace)).toEqual([]);
  });

  verifies("case 137", "cleaning up removes what was mounted, and a second time nothing", async () => {
    const { workspace, mount } = await sceneWith(PDF);
    const { target, cleanup } = await mount({ target: "a/b" });
    writeFileSync(join(target, "pdf/by-the-agent.txt"), "new");
    cleanup();
    expect(readdirSync(workspace)).toEqual([]);
    mkdirSync(join(workspace, "a/b/pdf"), { recursive: true });
    cleanup();
    expect(existsSync(join(workspace, "a/b/pdf"))).toBe(true);
  });

  test("what an agent put beside the skills stays", async () => {
    const { workspace, mount } = await sceneWith(PDF);
    const { target, cleanup } = await mount();
    writeFileSync(join(target, "notes.txt"), "n");
    cleanup();
    expect(filesBelow(workspace)).toEqual(["skills/notes.txt"]);
  });

  test("nothing is removed through a link that took the folder's place", async () => {
    const { mount } = await sceneWith(PDF);
    const { target, cleanup } = await mount();
    const elsewhere = temporaryFolder();
    mkdirSync(join(elsewhere, "pdf"));
    renameSync(target, `${target}-moved`);
    symlinkSync(elsewhere, target);
    expect(cleanup).toThrow(SkillMountError);
    expect(readdirSync(elsewhere)).toEqual(["pdf"]);
    rmSync(target);
    renameSync(`${target}-moved`, target);
    cleanup();
    expect(existsSync(target)).toBe(false);
  });

  test("a skill folder that has become a link out is refused, and nothing stays behind", async () => {
    const scene = await sceneWith({ ...PDF, "a-first/SKILL.md": text("a-first") });
    const elsewhere = temporaryFolder();
    writeFileSync(join(elsewhere, "SKILL.md"), text("pdf"));
    rmSync(scene.source("pdf"), { recursive: true });
    symlinkSync(elsewhere, scene.source("pdf"));
    await expectRefused(scene, "outside");
    await expect(scene.mount()).rejects.toHaveProperty("cause", expect.any(SkillResourceError));
    expect(existsSync(join(scene.workspace, "skills"))).toBe(false);
    expect(lstatSync(scene.source("pdf")).isSymbolicLink()).toBe(true);
  });
});
