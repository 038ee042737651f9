/** Repositories made to do harm, over HTTP: refused as in place, although files are written while they come. */
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { look, readShortly, serve, treeOf } from "../../../../../test/support/ahead-fetching.ts";
import {
  createRepository,
  type RawEntry,
  type Repository,
} from "../../../../../test/support/git-repository.ts";
import { temporaryFolder } from "../../../../../test/support/temporary.ts";
import { skill } from "../../../../../test/support/world.ts";

const SKILL: RawEntry = { mode: "100644", name: "SKILL.md", content: skill("hostile") };

function file(name: string | Buffer, content: string | Buffer = "harmless\n"): RawEntry {
  return { mode: "100644", name, content };
}

function folder(repository: Repository, name: string, entries: readonly RawEntry[]): RawEntry {
  return subtree(name, repository.git("rev-parse", `${repository.commitRaw(entries)}^{tree}`));
}

function subtree(name: string, content: string): RawEntry {
  return { mode: "040000", name, content, type: "tree" };
}

/** Written as it is, whatever git thinks of it. */
function writeObject(repository: Repository, kind: "tree" | "commit", content: Buffer): string {
  const path = join(temporaryFolder(), "object");
  writeFileSync(path, content);
  return repository.git("hash-object", "-t", kind, "-w", "--literally", path);
}

function commitTree(repository: Repository, content: Buffer): void {
  const commit = repository.git("commit-tree", writeObject(repository, "tree", content), "-m", "raw");
  repository.git("update-ref", "refs/heads/main", commit);
}

const HOSTILE: Readonly<Record<string, (repository: Repository) => void>> = {
  "a name that goes up": (repository) => repository.commitRaw([SKILL, file(".."), file("x")]),
  "a folder that goes up": (repository) =>
    repository.commitRaw([SKILL, folder(repository, "..", [file("evil.sh")])]),
  "a git folder": (repository) => repository.commitRaw([SKILL, folder(repository, ".git", [file("config")])]),
  "a link that goes up": (repository) =>
    repository.commitRaw([SKILL, { mode: "120000", name: "up", content: "../../etc/passwd" }]),
  "twins by letter case": (repository) => repository.commitRaw([SKILL, file("skill.md", "another\n")]),
  "twins by letter case, of which one is too large to be written ahead": (repository) =>
    // The small one is sent before, since another file has the same content.
    repository.commitRaw([
      file("0.bin"),
      file("A.bin", Buffer.alloc(8 * 1024 * 1024 + 1)),
      SKILL,
      file("a.bin"),
    ]),
  "twins of folders": (repository) =>
    repository.commitRaw([
      SKILL,
      folder(repository, "Scripts", [file("a.sh")]),
      folder(repository, "scripts", [file("b.sh", "b\n")]),
    ]),
  "a name that is not UTF-8": (repository) =>
    repository.commitRaw([SKILL, file(Buffer.from([0x61, 0xff, 0x62]))]),
  "a folder whose name is not UTF-8": (repository) => {
    const inner = folder(repository, "x", [file("y")]);
    repository.commitRaw([SKILL, { ...inner, name: Buffer.from([0xff]) }]);
  },
  "folders that contain each other": (repository) => {
    const names = Array.from({ length: 12 }, (_, index) => `folder-${index}`);
    for (let level = 0; level < 12; level++) {
      const content = repository.git("rev-parse", "HEAD^{tree}");
      repository.commitRaw(names.map((name) => subtree(name, content)));
    }
  },
  "a hundred thousand files": (repository) => {
    const thousand = folder(
      repository,
      "f0",
      Array.from({ length: 1000 }, (_, index) => file(String(index))),
    );
    repository.commitRaw(Array.from({ length: 100 }, (_, index) => ({ ...thousand, name: `f${index}` })));
  },
  "folders that are too deep": (repository) => {
    let inner = folder(repository, "x", [file("y")]);
    for (let depth = 0; depth < 40; depth++) inner = folder(repository, "x", [inner]);
    repository.commitRaw([SKILL, inner]);
  },
  "a name twice": (repository) => {
    const id = repository.git("rev-parse", `${repository.commitRaw([SKILL])}:SKILL.md`);
    const entry = ["100644", "SKILL.md", id] as const;
    commitTree(repository, treeOf([entry, entry]));
  },
  "a folder twice": (repository) => {
    const inner = writeObject(repository, "tree", treeOf([["160000", "x", "1".repeat(40)]]));
    const entry = ["40000", "folder", inner] as const;
    commitTree(repository, treeOf([entry, entry]));
  },
  "a name with a slash": (repository) => {
    const id = repository.git("rev-parse", `${repository.commitRaw([SKILL])}:SKILL.md`);
    commitTree(repository, treeOf([["100644", "a/SKILL.md", id]]));
  },
  "a folder that is called `.`": (repository) => {
    const inner = repository.git("rev-parse", `${repository.commitRaw([SKILL])}^{tree}`);
    commitTree(repository, treeOf([["40000", ".", inner]]));
  },
  "a folder that is used as a file": (repository) => {
    const inner = writeObject(repository, "tree", treeOf([["160000", "x", "1".repeat(40)]]));
    const skillFile = repository.git("rev-parse", `${repository.commitRaw([SKILL])}:SKILL.md`);
    const entries = [["100644", "SKILL.md", skillFile] as const, ["100644", "file", inner] as const];
    commitTree(repository, treeOf(entries));
  },
  "many folders of many submodules": (repository) => {
    const entries = Array.from(
      { length: 20_000 },
      (_, index) => ["160000", `s${index}`, "1".repeat(40)] as const,
    );
    const inner = writeObject(repository, "tree", treeOf(entries));
    const padding = Array.from({ length: 40 }, (_, index) => file(`a${index}`, `${index}\n`));
    const folders = Array.from({ length: 100 }, (_, index) => subtree(`f${100 + index}`, inner));
    repository.commitRaw([...padding, ...folders]);
  },
};

for (const [what, make] of Object.entries(HOSTILE)) {
  test(`${what}: over HTTP the refusal is the same as in place`, async () => {
    const repository = createRepository({});
    make(repository);
    const here = await look(repository.url);
    expect(here.outcome.ok).toBe(false);
    const outside = temporaryFolder();
    const there = await look(await serve(repository), { into: outside });
    expect(there.told).toEqual(here.told);
    const own = ["ahead", "tree", "repository.git"];
    expect(readdirSync(outside).filter((name) => !own.includes(name))).toEqual([]);
    expect(readdirSync(dirname(outside))).not.toContain("evil.sh");
  });
}

test("a folder is said to be complete only when its links are there, too", async () => {
  const repository = createRepository({});
  const inner = folder(repository, "a", [
    { mode: "120000", name: "0-link", content: "SKILL.md" },
    // Larger than what is written ahead: what follows comes from git.
    file("1-large.bin", Buffer.alloc(8 * 1024 * 1024 + 1)),
    SKILL,
  ]);
  repository.commitRaw([inner, folder(repository, "b", [SKILL]), file("zz.txt")]);
  const { outcome, found } = await look(await serve(repository));
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  for (const [path, files] of found) expect(files).toEqual(readShortly(join(outcome.value.folder, path)));
});
