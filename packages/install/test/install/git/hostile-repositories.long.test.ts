/** Repositories made to do harm: nothing of them runs, nothing is written outside, and what is refused is named. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultFrom, fetchedFrom, fetchIt, readFolder } from "../../../../../test/support/git-fetching.ts";
import {
  createRepository,
  type RawEntry,
  type Repository,
} from "../../../../../test/support/git-repository.ts";
import { temporaryFolder } from "../../../../../test/support/temporary.ts";
import { skill } from "../../../../../test/support/world.ts";

const SKILL: RawEntry = { mode: "100644", name: "SKILL.md", content: skill("hostile") };

function file(name: string | Buffer, content = "harmless\n"): RawEntry {
  return { mode: "100644", name, content };
}

function link(name: string, target: string): RawEntry {
  return { mode: "120000", name, content: target };
}

/** A folder at the root that holds these entries. */
function folder(repository: Repository, name: string, entries: readonly RawEntry[]): RawEntry {
  const commit = repository.commitRaw(entries);
  return { mode: "040000", name, content: repository.git("rev-parse", `${commit}^{tree}`), type: "tree" };
}

test("config, hooks, filters and attributes of a repository run nothing", async () => {
  const canary = join(temporaryFolder(), "canary");
  const touch = `touch ${canary}`;
  const repository = createRepository({
    "SKILL.md": skill("a"),
    ".gitattributes": "* filter=evil diff=evil merge=evil\n*.bin filter=lfs\n",
    ".lfsconfig": `[lfs]\n\turl = http://127.0.0.1:1/\n`,
    "x.bin": "content\n",
  });
  writeFileSync(
    join(repository.folder, ".git/config"),
    `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${touch}\n\tsshCommand = ${touch}\n\thooksPath = hooks\n\tpager = ${touch}\n\talternateRefsCommand = ${touch}\n` +
      `[uploadpack]\n\tpackObjectsHook = ${touch} #\n\tallowFilter = true\n` +
      `[filter "evil"]\n\tsmudge = ${touch}\n\tclean = ${touch}\n\tprocess = ${touch}\n\trequired = true\n` +
      `[filter "lfs"]\n\tsmudge = ${touch}\n\tprocess = ${touch}\n[diff "evil"]\n\tcommand = ${touch}\n\ttextconv = ${touch}\n` +
      `[credential]\n\thelper = !${touch}\n[alias]\n\tupload-pack = !${touch}\n[protocol "ext"]\n\tallow = always\n`,
  );
  mkdirSync(join(repository.folder, ".git/hooks"), { recursive: true });
  for (const hook of [
    "post-checkout",
    "pre-receive",
    "post-upload-pack",
    "reference-transaction",
    "post-index-change",
  ]) {
    const path = join(repository.folder, ".git/hooks", hook);
    writeFileSync(path, `#!/bin/sh\n${touch}\n`);
    chmodSync(path, 0o755);
  }
  for (const address of [repository.url, `${repository.url}#:x.bin`]) {
    const source = await fetchedFrom(address);
    expect(readFolder(source.folder)["x.bin"]).toBe("content\n");
  }
  expect(existsSync(canary)).toBe(false);
});

test("git's own variables in the environment change nothing", async () => {
  const canary = join(temporaryFolder(), "canary");
  const repository = createRepository({ "SKILL.md": skill("a") });
  const environment = {
    PATH: process.env.PATH,
    GIT_SSH_COMMAND: `touch ${canary}`,
    GIT_EXTERNAL_DIFF: `touch ${canary}`,
    GIT_TRACE: canary,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.fsmonitor",
    GIT_CONFIG_VALUE_0: `touch ${canary}`,
    GIT_DIR: "/nowhere",
    GIT_EXEC_PATH: "/nowhere",
    GIT_ALLOW_PROTOCOL: "ext",
  };
  expect(readFolder((await fetchedFrom(repository.url, { environment })).folder)).toEqual({
    "SKILL.md": skill("a"),
  });
  expect(existsSync(canary)).toBe(false);
});

test("submodules are left out and named, even those whose address is a command", async () => {
  const canary = join(temporaryFolder(), "canary");
  const repository = createRepository({});
  repository.commitRaw([
    SKILL,
    file(
      ".gitmodules",
      `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% ${canary}\n\tupdate = !touch ${canary}\n`,
    ),
    { mode: "160000", name: "x", content: "0123456789012345678901234567890123456789", type: "commit" },
  ]);
  const source = await fetchedFrom(repository.url);
  expect(Object.keys(readFolder(source.folder)).sort()).toEqual([".gitmodules", "SKILL.md"]);
  expect(source.diagnostics).toMatchObject([{ code: "tree.submodule", severity: "warning" }]);
  expect((await faultFrom(`${repository.url}#:x`)).code).toBe("source.not_found");
  expect(existsSync(canary)).toBe(false);
});

test("a file in Git LFS stays the pointer it is, and is named", async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12345\n`;
  const repository = createRepository({ "SKILL.md": skill("a"), "model.bin": pointer });
  const source = await fetchedFrom(repository.url);
  expect(readFolder(source.folder)["model.bin"]).toBe(pointer);
  expect(source.diagnostics).toMatchObject([{ code: "tree.lfs-pointer", severity: "warning" }]);
});

const REFUSED: Readonly<Record<string, (repository: Repository) => readonly RawEntry[]>> = {
  "a link to an absolute path": () => [SKILL, link("passwd", "/etc/passwd")],
  "a link that goes up": () => [SKILL, link("up", "../../../etc/passwd")],
  "a link through another one": (repository) => [
    SKILL,
    folder(repository, "deep", [link("root", "..")]),
    link("out", "deep/root/../../etc"),
  ],
  "an empty link": () => [SKILL, link("nothing", "")],
  "a name that goes up": () => [SKILL, file("..")],
  "a name that goes up, as a folder": (repository) => [SKILL, folder(repository, "..", [file("evil.sh")])],
  "a name with a backslash": () => [SKILL, file("..\\..\\evil.sh")],
  "a git folder": (repository) => [SKILL, folder(repository, ".git", [file("config")])],
  "a folder of git in other letters": (repository) => [SKILL, folder(repository, ".GIT", [file("config")])],
  "a folder of git as Windows may write it": (repository) => [
    SKILL,
    folder(repository, "git~1", [file("config")]),
  ],
  "a folder of git with an invisible character": (repository) => [
    SKILL,
    folder(repository, ".g\u200cit", [file("config")]),
  ],
  "names that differ in letter case": () => [SKILL, file("skill.md")],
  "folders that differ in letter case": (repository) => [
    SKILL,
    folder(repository, "Scripts", [file("a.sh")]),
    folder(repository, "scripts", [file("b.sh")]),
  ],
  "names that differ in Unicode form": () => [SKILL, file("caf\u00e9.md"), file("cafe\u0301.md")],
  "a name with a line end": () => [SKILL, file("a\nb.md")],
  "a name that moves a terminal's cursor": () => [SKILL, file("a\u001b[2Jb.md")],
  "a name that reads backwards": () => [SKILL, file("a\u202egnp.exe")],
  "a name that is not UTF-8": () => [SKILL, file(Buffer.from([0x61, 0xff, 0x62]))],
};

for (const [what, entries] of Object.entries(REFUSED)) {
  test(`${what} is refused, and nothing is written beside the quarantine`, async () => {
    const repository = createRepository({});
    repository.commitRaw(entries(repository));
    const outside = temporaryFolder();
    const into = join(outside, "quarantine");
    mkdirSync(into);
    const fault = await faultFrom(repository.url, { into });
    expect(fault.code).toBe("source.unsafe");
    expect(fault.message).toMatch(/^`file:/);
    expect(fault.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(readdirSync(outside)).toEqual(["quarantine"]);
    expect(existsSync(join(into, "repository.git"))).toBe(false);
  });
}

test("names that Windows cannot hold are installed here, with a warning", async () => {
  const repository = createRepository({ "SKILL.md": skill("a"), "aux.md": "x\n", "what?.md": "y\n" });
  const source = await fetchedFrom(repository.url);
  expect(source.diagnostics.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
    "warning tree.unportable-name",
    "warning tree.unportable-name",
  ]);
});

test("what is hostile elsewhere in the repository does not matter when one path is named", async () => {
  const repository = createRepository({});
  const good = folder(repository, "good", [SKILL]);
  repository.commitRaw([good, file("A.md"), file("a.md"), link("out", "/etc")]);
  const { folder: fetched } = await fetchedFrom(`${repository.url}#:good`);
  expect(Object.keys(readFolder(fetched))).toEqual(["good/SKILL.md"]);
});

test("a hundred thousand files are refused without being written", async () => {
  const repository = createRepository({});
  const entries = Array.from({ length: 1000 }, (_, index) => file(String(index)));
  // One folder of a thousand files, a hundred times: a small pack.
  const thousand = folder(repository, "f0", entries);
  repository.commitRaw(Array.from({ length: 100 }, (_, index) => ({ ...thousand, name: `f${index}` })));
  const into = temporaryFolder();
  const outcome = await fetchIt(repository.url, { into });
  expect(outcome).toMatchObject({ ok: false, refusal: { code: "source.limited" } });
  expect(existsSync(join(into, "tree"))).toBe(false);
});

test("a small pack that holds far too much is refused while it is read", async () => {
  const repository = createRepository({ "zeros.bin": Buffer.alloc(20_000_000) });
  const fault = await faultFrom(repository.url, { limits: { fileBytes: 1_000_000 } });
  expect(fault).toMatchObject({ code: "source.limited" });
  expect(fault.message).toContain("20000000 bytes");
});

test("a repository that says where its missing objects are to be had makes nobody get them there", async () => {
  const canary = join(temporaryFolder(), "canary");
  for (const origin of [
    `url = ext::sh -c touch% ${canary}`,
    `url = file:///\n\tuploadpack = touch ${canary};`,
  ]) {
    const repository = createRepository({ "SKILL.md": skill("a") });
    const commit = repository.git("rev-parse", "HEAD");
    const lazy = "repositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n";
    writeFileSync(
      join(repository.folder, ".git/config"),
      `[core]\n\t${lazy}[remote "origin"]\n\t${origin}\n\tpromisor = true\n`,
    );
    const blob = repository.git("rev-parse", "HEAD:SKILL.md");
    rmSync(join(repository.folder, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    for (const address of [repository.url, `${repository.url}#${commit}`]) {
      expect((await faultFrom(address)).code).toMatch(/^source\./);
    }
  }
  expect(existsSync(canary)).toBe(false);
});
