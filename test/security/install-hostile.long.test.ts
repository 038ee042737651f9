/**
 * Sources made to do harm, through the command that installs: what is refused is refused with a message that can be read,
 * nothing but the cache is written, nothing of it runs, and nothing is installed.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { type TarItem, tarOf, type ZipItem, zipOf } from "../support/archives.ts";
import { createRepository, type RawEntry } from "../support/git-repository.ts";
import { createInstallWorld, type InstallWorld } from "../support/installing.ts";
import { writeTree } from "../support/temporary.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

type MakeSource = (world: InstallWorld) => string | Promise<string>;

/** What may be said of it: the error's code, and what its message names. */
type Hostile = readonly [what: string, make: MakeSource, code: string, message: RegExp];

const SKILL: RawEntry = { mode: "100644", name: "SKILL.md", content: skill("hostile") };
const SKILL_FILE = { name: "hostile/SKILL.md", content: skill("hostile") };

const REPOSITORIES: readonly Hostile[] = [
  ["a name that goes up", git(SKILL, { ...SKILL, name: ".." }), "source.unsafe", /\.\./],
  ["a link out of it", git(SKILL, link("notes.md", "../../../.ssh/id_rsa")), "source.unsafe", /notes\.md/],
  ["a link to an absolute path", git(SKILL, link("notes.md", "/etc/passwd")), "source.unsafe", /notes\.md/],
  [
    "names that differ in case only",
    git(SKILL, { ...SKILL, name: "skill.md" }),
    "source.unsafe",
    /letter case/,
  ],
  [
    "a name with control characters",
    git(SKILL, { ...SKILL, name: "a\u001b[2J\nb" }),
    "source.unsafe",
    /a.*b/,
  ],
  ["a file inside of `.git`", gitFolder(".git", { ...SKILL, name: "config" }), "source.unsafe", /\.git/],
  ["a hundred thousand files", manyFiles, "source.limited", /20000/],
  [
    "a file that is far too large",
    git(SKILL, { ...SKILL, name: "zeros", content: Buffer.alloc(65 << 20) }),
    "source.limited",
    /68157440 bytes/,
  ],
];

const ARCHIVES: readonly Hostile[] = [
  ["a tar file that goes up", tar({ name: "hostile/../../../evil" }), "source.unsafe", /evil/],
  ["a tar file with an absolute path", tar({ name: "/tmp/evil" }), "source.unsafe", /evil/],
  ["a zip file that goes up", zip({ name: "../../../../evil" }), "source.unsafe", /evil/],
  ["a zip file that goes up the other way", zip({ name: "..\\..\\evil" }), "source.unsafe", /evil/],
  [
    "a file through a link",
    tar({ name: "hostile/out", type: "2", target: "../../../.." }, { name: "hostile/out/evil" }),
    "source.unsafe",
    /out/,
  ],
  [
    "a hard link out of it",
    tar({ name: "hostile/key", type: "1", target: "../../.ssh/id_rsa" }),
    "source.unsafe",
    /key/,
  ],
  [
    "a link out of a zip file",
    zip({ name: "hostile/key", content: "/etc/passwd", mode: 0o120777 }),
    "source.unsafe",
    /key/,
  ],
  ["a character device", tar({ name: "hostile/random", type: "3" }), "source.unsafe", /random/],
  ["a block device", tar({ name: "hostile/disk", type: "4" }), "source.unsafe", /disk/],
  ["a FIFO", tar({ name: "hostile/pipe", type: "6" }), "source.unsafe", /pipe/],
  ["tar names that differ in case only", tar({ name: "hostile/skill.MD" }), "source.unsafe", /letter case/],
  [
    "zip names that differ in Unicode form",
    zip({ name: "caf\u00e9.md" }, { name: "cafe\u0301.md" }),
    "source.unsafe",
    /Unicode/,
  ],
  [
    "a tar name with control characters",
    tar({ name: "hostile/a\u001b]0;x\u0007b" }),
    "source.unsafe",
    /hostile/,
  ],
  [
    "a bomb",
    tar({ name: "hostile/zeros", content: Buffer.alloc(65 << 20) }),
    "source.limited",
    /68157440 bytes/,
  ],
  ["a hundred thousand entries", manyEntries, "source.limited", /20000/],
  ["a zip file whose files are one another", overlapping, "source.unsafe", /zip archive overlap/],
];

const FOLDERS: readonly Hostile[] = [
  [
    "a link out of it",
    folder(({ root }, at) => symlinkSync(join(root, "home/.ssh"), join(at, "keys"))),
    "source.unsafe",
    /keys/,
  ],
  ["a FIFO", folder((_, at) => void execFileSync("mkfifo", [join(at, "pipe")])), "source.unsafe", /pipe/],
  ["a socket", folder((_, at) => openSocket(join(at, "socket"))), "source.unsafe", /socket/],
  [
    "names that differ in case only",
    folder((_, at) => writeTree(at, { "A.md": "", "a.md": "" })),
    "source.unsafe",
    /letter case/,
  ],
  [
    "a name with control characters",
    folder((_, at) => writeTree(at, { "a\u0007\nb": "" })),
    "source.unsafe",
    /a.*b/,
  ],
];

describe.each([
  ["a repository", REPOSITORIES],
  ["an archive", ARCHIVES],
  ["a folder", FOLDERS],
])("%s", (_kind, sources) => {
  test.each(sources)("with %s is refused, and nothing else happens", async (_what, make, code, message) => {
    const world = createHome();
    const source = await make(world);
    const before = snapshot(world.root);
    const outcome = await world.cli("install", source, "--all", "--yes", "--json");
    expect(outcome.code).not.toBe(0);
    expect(outcome.json.error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(outcome.json.error.hint).toMatch(/\w/);
    expect(outcome.stdout + outcome.stderr).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u);
    expectUntouched(world, before);
    expect(readdirSync(join(world.home, ".metier"))).toEqual(["cache"]);
  });
});

describe("what a repository wants to be run", () => {
  verifies(189, "is not: its config, hooks, filters and submodules are dead text", async () => {
    const world = createHome();
    const canary = join(world.root, "canary");
    const repository = createRepository(
      {
        "SKILL.md": skill("quiet"),
        ".gitattributes": "* filter=evil diff=evil\n",
        ".gitmodules": `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% ${canary}\n\tupdate = !touch ${canary}\n`,
        ".githooks/post-checkout": `#!/bin/sh\ntouch ${canary}\n`,
        "package.json": `{"name":"x","version":"1.0.0","scripts":{"preinstall":"touch ${canary}","postinstall":"touch ${canary}"}}`,
        "setup.py": `open(${JSON.stringify(canary)}, "w")\n`,
        ".envrc": `touch ${canary}\n`,
      },
      { parent: world.root, name: "hostile" },
    );
    armRepository(repository.folder, `touch ${canary}`);
    const before = snapshot(world.root);
    const outcome = await world.cli("install", repository.url, "--yes", "--json");
    expect(outcome.code).toBe(0);
    expectUntouched(world, before);
    for (const command of ["list", "verify", "doctor"]) await world.cli(command, "--json");
    expectUntouched(world, before);
  });

  test("is not either when the repository is a folder to copy from, and its `.git` stays behind", async () => {
    const world = createHome();
    const canary = join(world.root, "canary");
    const repository = createRepository(
      { "SKILL.md": skill("quiet") },
      { parent: world.root, name: "hostile" },
    );
    armRepository(repository.folder, `touch ${canary}`);
    const before = snapshot(world.root);
    const outcome = await world.cli("install", repository.folder, "--yes", "--json");
    expect(outcome.code).toBe(0);
    expectUntouched(world, before);
    expect(readdirSync(outcome.json.installed[0].path)).toEqual(["SKILL.md"]);
  });

  test("is not when the skill says so itself: it is untrusted, and its commands are shown", async () => {
    const world = createHome();
    const canary = join(world.root, "canary");
    const hooks = `hooks:\n  PreToolUse:\n    - command: touch ${canary}`;
    const repository = createRepository(
      { "SKILL.md": skill("loud", hooks, `!\`touch ${canary}\``) },
      { parent: world.root, name: "hostile" },
    );
    const before = snapshot(world.root);
    const outcome = await world.cli("install", repository.url, "--yes");
    expect(outcome.stdout).toContain(`touch ${canary}`);
    await world.cli("read", "loud");
    expectUntouched(world, before);
  });
});

test("a setuid bit does not come along, and is named", async () => {
  const world = createHome();
  const source = join(world.root, "source");
  writeTree(source, { "SKILL.md": skill("quiet"), tool: "#!/bin/sh\n" });
  chmodSync(join(source, "tool"), 0o6755);
  const { json } = await world.cli("install", source, "--yes", "--json");
  expect(lstatSync(join(json.installed[0].path, "tool")).mode & 0o7777).toBe(0o755);
  expect(json.diagnostics).toMatchObject([
    { code: "tree.mode-dropped", severity: "warning", message: expect.stringContaining("`tool`") },
  ]);
});

/** A home and a project with something in them that could be read, overwritten or removed. */
function createHome(): InstallWorld {
  const world = createInstallWorld();
  world.write({
    "home/.ssh/id_rsa": "secret",
    "home/.bashrc": "export A=1\n",
    "home/.claude/skills/mine/SKILL.md": skill("mine"),
    "project/README.md": "mine\n",
  });
  return world;
}

/** Every file, link and folder with what is in it, except what Metier keeps for itself. */
function snapshot(root: string): readonly string[] {
  const found: string[] = [];
  const pending = [root];
  for (const at of pending) {
    const stats = lstatSync(at);
    const path = relative(root, at);
    if (path === join("home", ".metier")) continue;
    if (stats.isDirectory()) pending.push(...readdirSync(at).map((name) => join(at, name)));
    const content = stats.isFile() ? readFileSync(at, "latin1").slice(0, 4096) : "";
    found.push(
      [
        path,
        stats.mode,
        stats.isFile() ? stats.size : "",
        stats.isSymbolicLink() ? readlinkSync(at) : content,
      ].join(" "),
    );
  }
  return found.sort();
}

function expectUntouched(world: InstallWorld, before: readonly string[]): void {
  expect(snapshot(world.root)).toEqual(before);
  expect(world.quarantined()).toEqual([]);
}

function link(name: string, target: string): RawEntry {
  return { mode: "120000", name, content: target };
}

function git(...entries: readonly RawEntry[]): MakeSource {
  return ({ root }) => {
    const repository = createRepository({}, { parent: root, name: "hostile" });
    repository.commitRaw(entries);
    return repository.url;
  };
}

/** The skill, and a folder of that name with these entries. */
function gitFolder(name: string, ...entries: readonly RawEntry[]): MakeSource {
  return ({ root }) => {
    const repository = createRepository({}, { parent: root, name: "hostile" });
    const tree = repository.git("rev-parse", `${repository.commitRaw(entries)}^{tree}`);
    repository.commitRaw([SKILL, { mode: "040000", name, content: tree, type: "tree" }]);
    return repository.url;
  };
}

/** A folder of a thousand files, a hundred times: a small pack. */
function manyFiles({ root }: InstallWorld): string {
  const repository = createRepository({}, { parent: root, name: "hostile" });
  const blob = repository.git("hash-object", "-w", join(root, "home/.bashrc"));
  const files = Array.from({ length: 1000 }, (_, index) => `100644 blob ${blob}\t${index}\n`).join("");
  const makeTree = (lines: string): string =>
    execFileSync("git", ["-C", repository.folder, "mktree"], { input: lines, encoding: "utf8" }).trim();
  const thousand = makeTree(files);
  const folders = Array.from({ length: 100 }, (_, index) => `040000 tree ${thousand}\tf${index}\n`).join("");
  repository.commitRaw([SKILL, { mode: "040000", name: "many", content: makeTree(folders), type: "tree" }]);
  return repository.url;
}

function tar(...items: readonly TarItem[]): MakeSource {
  return ({ root }) =>
    writeArchive(root, "hostile.tar.gz", gzipSync(tarOf(SKILL_FILE, ...items), { level: 1 }));
}

function zip(...items: readonly ZipItem[]): MakeSource {
  return ({ root }) => writeArchive(root, "hostile.zip", zipOf([SKILL_FILE, ...items]));
}

function overlapping({ root }: InstallWorld): string {
  const item = { name: "a", content: "x".repeat(1000) };
  return writeArchive(
    root,
    "hostile.zip",
    zipOf([item, ...Array.from({ length: 20 }, () => ({ ...item, listed: { offset: 0 } }))]),
  );
}

function manyEntries({ root }: InstallWorld): string {
  const items = Array.from({ length: 100_000 }, (_, index) => ({ name: `hostile/${index}` }));
  return writeArchive(root, "hostile.tar.gz", gzipSync(tarOf(SKILL_FILE, ...items), { level: 1 }));
}

function writeArchive(root: string, name: string, bytes: Buffer): string {
  const file = join(root, name);
  writeFileSync(file, bytes);
  return file;
}

function folder(spoil: (world: InstallWorld, at: string) => void | Promise<void>): MakeSource {
  return async (world) => {
    const at = join(world.root, "hostile");
    writeTree(at, { "SKILL.md": skill("hostile") });
    await spoil(world, at);
    return at;
  };
}

async function openSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

/** Everything in a repository's own folder that git may run. */
function armRepository(at: string, command: string): void {
  const config = [
    `[core]\n\tfsmonitor = ${command}\n\tsshCommand = ${command}\n\thooksPath = .githooks\n\tpager = ${command}`,
    `[uploadpack]\n\tpackObjectsHook = ${command} #`,
    `[filter "evil"]\n\tsmudge = ${command}\n\tclean = ${command}\n\tprocess = ${command}`,
    `[diff "evil"]\n\tcommand = ${command}\n\ttextconv = ${command}`,
    `[credential]\n\thelper = !${command}`,
    '[protocol "ext"]\n\tallow = always\n',
  ];
  writeFileSync(join(at, ".git/config"), config.join("\n"), { flag: "a" });
  mkdirSync(join(at, ".git/hooks"), { recursive: true });
  for (const hook of ["post-checkout", "pre-receive", "post-upload-pack", "reference-transaction"]) {
    writeFileSync(join(at, ".git/hooks", hook), `#!/bin/sh\n${command}\n`, { mode: 0o755 });
  }
}
