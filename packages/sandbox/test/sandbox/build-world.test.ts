import { mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRunFolders } from "../../../../test/support/run-world.ts";
import { refreshWorld } from "../../src/sandbox/world/build-world.ts";
import { accessTo } from "../../src/sandbox/world/world.ts";

test("shows a trusted run its working directory, skill and work folder, and starts it in the first", () => {
  const folders = createRunFolders();
  const { world, diagnostics } = folders.build();
  expect(world).toEqual({
    cwd: folders.project,
    workDir: folders.work,
    skillDir: folders.skill,
    readable: [folders.work, folders.project, folders.skill],
    writable: [folders.work],
    masked: [],
    protectedPaths: [],
  });
  expect(diagnostics).toEqual([]);
});

test("shows an untrusted run its work folder and its skill only, whatever was asked for", () => {
  const folders = createRunFolders();
  const asked = { write: true, grantedRead: [folders.root], grantedWrite: [folders.root] };
  const { world, diagnostics } = folders.build({ trust: "untrusted", ...asked });
  expect(world).toEqual({
    cwd: folders.work,
    workDir: folders.work,
    skillDir: folders.skill,
    readable: [folders.work, folders.skill],
    writable: [folders.work],
    masked: [],
    protectedPaths: [],
  });
  expect(diagnostics).toEqual([]);
});

test("resolves links, so that what is shown is what is meant", () => {
  const folders = createRunFolders();
  const link = join(folders.root, "link");
  symlinkSync(folders.project, link);
  expect(folders.world({ cwd: link }).cwd).toBe(folders.project);
});

test("hides `.env` files at any depth, what links of that name lead to, and sockets", async () => {
  const folders = createRunFolders();
  folders.write({
    "project/.env": "",
    "project/a/b/.env.local": "",
    "project/a/.ENVRC": "",
    "project/secrets/real": "",
    "project/environment.md": "",
    "skills/pdf/.env": "",
  });
  symlinkSync("secrets/real", join(folders.project, ".env.production"));
  symlinkSync("nowhere", join(folders.project, ".env.dangling"));
  symlinkSync("/etc/hosts", join(folders.project, ".env.outside"));
  const socket = join(folders.project, "a", "daemon");
  const server = createServer();
  await new Promise<void>((listening) => server.listen(socket, listening));
  onTestFinished(() => void server.close());
  const expected = [".env", "a/b/.env.local", "a/.ENVRC", "secrets/real", "a/daemon"];
  const inProject = expected.map((path) => join(folders.project, path));
  expect([...folders.world().masked].sort()).toEqual([...inProject, join(folders.skill, ".env")].sort());
});

test("hides the rest of home when the working directory lies in it, by not showing it", () => {
  const folders = createRunFolders();
  folders.write({ "home/code/app/main.ts": "", "home/.ssh/id": "", "home/code/other/x": "" });
  const world = folders.world({ cwd: join(folders.home, "code/app") });
  expect(accessTo(world, join(folders.home, "code/app/main.ts"))).toBe("read");
  expect(accessTo(world, join(folders.home, ".ssh/id"))).toBe("none");
  expect(accessTo(world, join(folders.home, "code/other/x"))).toBe("none");
});

test("hides credentials, config and Metier's folders when home is the working directory", () => {
  const folders = createRunFolders();
  folders.write({
    "home/notes.txt": "",
    "home/.ssh/id": "",
    "home/.config/gh/hosts.yml": "",
    "home/.config/editor.json": "",
    "home/.metier/grants.json": "",
    "home/.metier/skills/x/SKILL.md": "",
    "home/app/settings.toml": "",
  });
  const world = folders.world({
    cwd: folders.home,
    skillDir: join(folders.home, ".metier/skills/x"),
    privateFiles: [join(folders.home, "app/settings.toml")],
  });
  const access = (path: string) => accessTo(world, join(folders.home, path));
  expect([access("notes.txt"), access(".config/editor.json")]).toEqual(["read", "read"]);
  for (const path of [".ssh/id", ".config/gh/hosts.yml", ".metier/grants.json", "app/settings.toml"]) {
    expect(`${path} ${access(path)}`).toBe(`${path} none`);
  }
  expect(access(".metier/skills/x/SKILL.md")).toBe("read");
  expect(access(".metier/state/runs/r1/work/new")).toBe("write");
  expect(access(".metier/state/runs/r2/work/other")).toBe("none");
});

test("hides a whole home that lies below the working directory", () => {
  const folders = createRunFolders();
  folders.write({ "home/notes.txt": "", "project/a.txt": "" });
  const world = folders.world({ cwd: folders.root });
  expect(accessTo(world, join(folders.home, "notes.txt"))).toBe("none");
  expect(accessTo(world, join(folders.project, "a.txt"))).toBe("read");
  expect(accessTo(world, folders.work)).toBe("write");
});

test("does not show the whole machine, the system's folders or places for secrets, and says why", () => {
  const folders = createRunFolders();
  folders.write({ "home/.ssh/id": "", "home/.metier/vault/x": "", "home/.metier/skills/x/SKILL.md": "" });
  const places = ["/", "/etc", "/proc/self", join(folders.home, ".ssh"), join(folders.home, ".metier")];
  for (const cwd of [...places, join(folders.home, ".metier/vault")]) {
    const { world, diagnostics } = folders.build({ cwd });
    expect(world.cwd).toBe(folders.work);
    expect(world.readable).toEqual([folders.work, folders.skill]);
    expect(diagnostics.map(({ code }) => code)).toEqual(["sandbox.path-not-shown"]);
  }
  expect(folders.world({ cwd: join(folders.home, ".metier/skills/x") }).cwd).toContain("skills/x");
});

test("makes the working directory writable except what other programs obey, there or not", () => {
  const folders = createRunFolders();
  folders.write({ "project/.git/config": "", "project/.git/HEAD": "", "project/.claude/settings.json": "" });
  const world = folders.world({ write: true });
  const access = (path: string) => accessTo(world, join(folders.project, path));
  expect([access("src/new.ts"), access(".git/HEAD"), access(".git/index")]).toEqual([
    "write",
    "write",
    "write",
  ]);
  const names = [
    ".git/config",
    ".git/hooks/x",
    ".git/commondir",
    ".metier/x",
    ".claude/x",
    ".agents",
    ".vscode/x",
  ];
  for (const path of [...names, ".mcp.json"]) {
    expect(`${path} ${access(path)}`).toBe(`${path} read`);
  }
});

test("protects `.git` itself where it is missing or names another folder", () => {
  const folders = createRunFolders();
  expect(folders.world({ write: true }).protectedPaths).toContain(join(folders.project, ".git"));
  folders.write({ "project/.git": "gitdir: ../elsewhere" });
  expect(folders.world({ write: true }).protectedPaths).toContain(join(folders.project, ".git"));
});

test("keeps the skill read-only in a writable working directory", () => {
  const folders = createRunFolders();
  const skillDir = join(folders.project, "skills/pdf");
  mkdirSync(skillDir, { recursive: true });
  const world = folders.world({ skillDir, write: true });
  expect(accessTo(world, join(skillDir, "SKILL.md"))).toBe("read");
  expect(accessTo(world, join(folders.project, "skills/other"))).toBe("write");
  const inside = folders.build({ skillDir, cwd: skillDir, write: true });
  expect(inside.world.writable).toEqual([folders.work]);
  expect(inside.diagnostics[0]?.code).toBe("sandbox.path-not-writable");
});

test("does not make a home writable, nor a folder in which a protected path is a link", () => {
  const folders = createRunFolders();
  for (const cwd of [folders.home, folders.root]) {
    const { world, diagnostics } = folders.build({ cwd, write: true });
    expect(world.writable).toEqual([folders.work]);
    expect(diagnostics[0]?.message).toContain("home");
  }
  symlinkSync("elsewhere", join(folders.project, ".claude"));
  const { world, diagnostics } = folders.build({ write: true });
  expect(world.writable).toEqual([folders.work]);
  expect(diagnostics[0]?.message).toContain("link");
});

test("adds granted paths, but none that are private, missing or, for writing, no folder", () => {
  const folders = createRunFolders();
  folders.write({ "data/a.csv": "", "out/x": "", "home/.aws/credentials": "" });
  const at = (path: string) => join(folders.root, path);
  const { world, diagnostics } = folders.build({
    grantedRead: [at("data/a.csv"), at("home/.aws"), at("missing")],
    grantedWrite: [at("out"), at("data/a.csv")],
  });
  expect(accessTo(world, at("data/a.csv"))).toBe("read");
  expect(accessTo(world, at("out/new"))).toBe("write");
  expect(accessTo(world, at("home/.aws/credentials"))).toBe("none");
  expect(diagnostics.map(({ code, path }) => [code, path])).toEqual([
    ["sandbox.path-not-shown", at("home/.aws")],
    ["sandbox.path-not-shown", at("missing")],
    ["sandbox.path-not-writable", at("data/a.csv")],
  ]);
});

test("never shows a run more than the run that starts it sees", () => {
  const folders = createRunFolders();
  folders.write({ "data/a.csv": "" });
  const data = join(folders.root, "data");
  const blind = folders.world({ trust: "untrusted" });
  expect(folders.world({ within: blind, write: true, grantedRead: [data] }).readable).toEqual([
    folders.work,
    folders.skill,
  ]);
  const reading = folders.world();
  const { world } = folders.build({ within: reading, write: true });
  expect(world.readable).toContain(folders.project);
  expect(world.writable).toEqual([folders.work]);
});

test("says when a folder is too large to be looked through", () => {
  const folders = createRunFolders();
  const files = Array.from({ length: 1100 }, (_, index) => [`project/.env.${index}`, ""]);
  folders.write(Object.fromEntries(files));
  const { world, diagnostics } = folders.build();
  expect(world.masked).toHaveLength(1000);
  expect(diagnostics.map(({ code }) => code)).toEqual(["sandbox.scan-limit"]);
});

test("looks again through folders that a run may change, and through no others", () => {
  const folders = createRunFolders();
  const [fixed, changing] = [folders.world(), folders.world({ write: true })];
  folders.write({ "project/new/.env": "" });
  expect(refreshWorld(fixed)).toBe(fixed);
  expect(refreshWorld(changing).masked).toContain(join(folders.project, "new/.env"));
});

test("the folders of other skills that are followed can be read, and nothing around them", () => {
  const folders = createRunFolders();
  folders.write({
    "home/.metier/skills/x/SKILL.md": "",
    "home/.metier/skills/x/.env": "",
    "home/.metier/skills/y/SKILL.md": "",
  });
  const other = join(folders.home, ".metier/skills/x");
  const world = folders.world({ write: true, otherSkills: [other] });
  expect(accessTo(world, join(other, "SKILL.md"))).toBe("read");
  expect(accessTo(world, join(other, ".env"))).toBe("none");
  expect(accessTo(world, join(folders.home, ".metier/skills/y/SKILL.md"))).toBe("none");
});

test("[L14] looks through a folder when something is asked of it, so that a run without files does not pay", () => {
  const folders = createRunFolders();
  const { world } = folders.build();
  folders.write({ "project/.env": "" });
  expect(accessTo(world, join(folders.project, ".env"))).toBe("none");
  folders.write({ "project/later/.env": "" });
  expect(world.masked).toEqual([join(folders.project, ".env")]);
});
