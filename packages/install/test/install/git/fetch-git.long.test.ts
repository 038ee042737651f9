/** Repositories over `file://`: what is fetched is exactly what the commit holds. */
import { existsSync, readdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  faultFrom,
  fetchedFrom,
  fetchIt,
  gitAddress,
  readFolder,
} from "../../../../../test/support/git-fetching.ts";
import { createRepository } from "../../../../../test/support/git-repository.ts";
import { temporaryFolder } from "../../../../../test/support/temporary.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { skill } from "../../../../../test/support/world.ts";
import { resolveGit } from "../../../src/install/git/fetch-git.ts";
import { SOURCE_LIMITS } from "../../../src/install/source-limits.ts";

verifies(
  [186, 187, "case 100"],
  "a branch, a tag and a commit are fetched, each at its exact commit",
  async () => {
    const repository = createRepository({ "SKILL.md": skill("first") });
    const first = repository.git("rev-parse", "HEAD");
    repository.git("tag", "--annotate", "v1", "--message", "one");
    repository.git("branch", "feature/search");
    const second = repository.commit({ "SKILL.md": skill("second") });

    const content = async (ref: string): Promise<readonly string[]> => {
      const { resolved, folder } = await fetchedFrom(`${repository.url}${ref}`);
      return [resolved, readFolder(folder)["SKILL.md"] ?? ""];
    };
    expect(await content("")).toEqual([second, skill("second")]);
    expect(await content("#main")).toEqual([second, skill("second")]);
    expect(await content("#v1")).toEqual([first, skill("first")]);
    expect(await content("#refs/tags/v1")).toEqual([first, skill("first")]);
    expect(await content("#feature/search")).toEqual([first, skill("first")]);
    expect(await content(`#${first}`)).toEqual([first, skill("first")]);
    expect(await content(`#${first.slice(0, 9)}`)).toEqual([first, skill("first")]);
  },
);

test("what is handed on is the tree alone: no repository, nothing else in the quarantine", async () => {
  const repository = createRepository({ "SKILL.md": skill("a"), "scripts/run.sh": "echo hello\n" });
  symlinkSync("../SKILL.md", join(repository.folder, "scripts/link"));
  repository.git("add", "--all");
  repository.git("update-index", "--chmod=+x", "scripts/run.sh");
  repository.git("commit", "--quiet", "--message", "more");
  const commit = repository.git("rev-parse", "HEAD");
  const into = temporaryFolder();
  const source = await fetchedFrom(repository.url, { into });
  expect(source).toEqual({
    folder: join(into, "tree"),
    resolved: commit,
    canonical: repository.url,
    diagnostics: [],
  });
  expect(readdirSync(into)).toEqual(["tree"]);
  expect(readFolder(source.folder)).toEqual({
    "SKILL.md": skill("a"),
    "scripts/run.sh*": "echo hello\n",
    "scripts/link@": "../SKILL.md",
  });
});

for (const filters of [true, false]) {
  const server = filters ? "that leaves files out" : "that cannot leave files out";
  verifies("case 104", `of a path only that path is written, from a server ${server}`, async () => {
    const files = {
      "skills/a/SKILL.md": skill("a"),
      "skills/ab/SKILL.md": skill("ab"),
      "README.md": "Read me.\n",
    };
    const repository = createRepository(files, { filters });
    const source = await fetchedFrom(`${repository.url}#main:skills/a`);
    expect(readFolder(source.folder)).toEqual({ "skills/a/SKILL.md": skill("a") });
    expect(source).toMatchObject({
      ref: "main",
      paths: ["skills/a"],
      canonical: `${repository.url}#main:skills/a`,
    });
  });
}

test("a page's branch may have slashes: the longest that the repository has is taken", async () => {
  const repository = createRepository({
    "x/skills/a/SKILL.md": skill("a"),
    "skills/a/SKILL.md": skill("other"),
  });
  repository.git("branch", "feature/x");
  const page = gitAddress("https://github.com/o/r/tree/feature/x/skills/a", repository.url);
  const source = await fetchedFrom(page);
  expect(source).toMatchObject({ ref: "feature/x", paths: ["skills/a"] });
  expect(source.canonical).toBe(`${repository.url}#feature/x:skills/a`);
});

test("one file can be named", async () => {
  const repository = createRepository({ "skills/a.md": skill("a"), "skills/b.md": skill("b") });
  const { folder } = await fetchedFrom(`${repository.url}#:skills/a.md`);
  expect(Object.keys(readFolder(folder))).toEqual(["skills/a.md"]);
});

test("content comes byte for byte, whatever attributes, filters and line ends the repository asks for", async () => {
  const files = {
    "SKILL.md": skill("a"),
    "lines.txt": "one\ntwo\r\nthree\r",
    "id.txt": "$Id$ $Format:%H$\n",
    "left-out.txt": "",
    ".gitattributes":
      "* text=auto eol=crlf ident export-subst filter=evil working-tree-encoding=UTF-16\nleft-out.txt export-ignore\n",
  };
  const bytes = Buffer.from([0, 255, 13, 10, 10, 13, 36, 73, 100, 36]);
  const repository = createRepository({});
  const entries = Object.entries({ ...files, "data.bin": bytes });
  repository.commitRaw(entries.map(([name, content]) => ({ mode: "100644", name, content })));
  const { folder } = await fetchedFrom(repository.url);
  expect(readFolder(folder)).toEqual({ ...files, "data.bin": bytes.toString("latin1") });
});

test("large files and many files come whole", async () => {
  const large = Buffer.alloc(3_000_000, "0123456789\n");
  const many = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`many/${index}.txt`, `file ${index}\n`]),
  );
  const repository = createRepository({ "large.bin": large, ...many });
  const files = readFolder((await fetchedFrom(repository.url)).folder);
  expect(Object.keys(files)).toHaveLength(301);
  expect(files["large.bin"]).toBe(large.toString("latin1"));
  expect(files["many/299.txt"]).toBe("file 299\n");
});

test("which commit an address means can be asked without fetching it", async () => {
  const repository = createRepository({ "SKILL.md": skill("a") });
  const commit = repository.git("rev-parse", "HEAD");
  const into = temporaryFolder();
  const address = gitAddress(`${repository.url}#main`);
  const context = { into, limits: SOURCE_LIMITS, environment: { PATH: process.env.PATH } };
  expect(await resolveGit(address, context)).toMatchObject({ ok: true, value: { commit, ref: "main" } });
  expect(readdirSync(into)).toEqual([]);
});

test("a repository of SHA-256 ids is fetched", async () => {
  const parent = temporaryFolder();
  const repository = createRepository({ "SKILL.md": skill("a") }, { parent });
  repository.git(
    "init",
    "--quiet",
    "--bare",
    "--object-format=sha256",
    "--initial-branch=main",
    join(parent, "new.git"),
  );
  const at = ["--git-dir", join(parent, "new.git")];
  const tree = repository.git(...at, "write-tree");
  const commit = repository.git(...at, "commit-tree", tree, "-m", "empty");
  repository.git(...at, "update-ref", "refs/heads/main", commit);
  expect((await fetchedFrom(`file://${encodeURI(join(parent, "new.git"))}`)).resolved).toBe(commit);
});

verifies(
  [190, "case 100"],
  "a reference that is not there is refused with the nearest that are",
  async () => {
    const repository = createRepository({ "SKILL.md": skill("a") });
    repository.git("tag", "v1.2.0");
    expect(await faultFrom(`${repository.url}#v1.2.1`)).toMatchObject({
      code: "source.ref_not_found",
      hint: "Did you mean `v1.2.0`?",
    });
    expect(await faultFrom(`${repository.url}#something-else`)).toMatchObject({
      code: "source.ref_not_found",
      hint: "It has `main`, `v1.2.0`.",
    });
    for (const commit of ["0123456789abcdef", "0123456789abcdef0123456789abcdef01234567"]) {
      expect((await faultFrom(`${repository.url}#${commit}`)).code).toBe("source.ref_not_found");
    }
  },
);

test("a path that is not there is refused with the nearest that are", async () => {
  const repository = createRepository({ "skills/pdf/SKILL.md": skill("pdf") });
  expect(await faultFrom(`${repository.url}#:skills/pfd`)).toMatchObject({
    code: "source.not_found",
    hint: "Did you mean `skills/pdf`?",
  });
});

test("a repository without a commit is refused", async () => {
  const repository = createRepository({});
  repository.git("update-ref", "-d", "refs/heads/main");
  expect((await faultFrom(repository.url)).code).toBe("source.ref_not_found");
});

verifies([189, 190], "what is no repository is refused, and nothing of it stays", async () => {
  const into = temporaryFolder();
  const fault = await faultFrom(`file://${encodeURI(temporaryFolder())}`, { into });
  expect(fault).toMatchObject({ code: "source.not_found" });
  expect(readdirSync(into)).toEqual([]);
});

verifies("case 108", "without git the fault says how to install it", async () => {
  const fault = await faultFrom("file:///nowhere", { environment: { PATH: temporaryFolder() } });
  expect(fault).toMatchObject({
    code: "git.missing",
    message: "`git` is not on PATH; Metier needs it to fetch repositories.",
  });
  expect(fault.hint).toContain("apt-get install git");
});

test("a fetch that was cancelled before it began is cancelled", async () => {
  const repository = createRepository({ "SKILL.md": skill("a") });
  expect((await faultFrom(repository.url, { signal: AbortSignal.abort() })).code).toBe("cancelled");
});

test("a repository that went between two fetches is not found, and what was fetched before stays whole", async () => {
  const parent = temporaryFolder();
  const repository = createRepository({ "SKILL.md": skill("a") }, { parent });
  const { folder } = await fetchedFrom(repository.url);
  renameSync(repository.folder, join(parent, "gone"));
  expect((await faultFrom(repository.url)).code).toBe("source.not_found");
  expect(existsSync(join(folder, "SKILL.md"))).toBe(true);
});

for (const [what, limits, files] of [
  ["files", { files: 2 }, { "a.txt": "1", "b.txt": "2", "c.txt": "3" }],
  ["bytes", { bytes: 1000 }, { "a.txt": "x".repeat(600), "b.txt": "y".repeat(600) }],
  ["bytes in one file", { fileBytes: 1000 }, { "a.txt": "x".repeat(2000) }],
  ["folders in one another", { depth: 3 }, { "1/2/3/4.txt": "deep" }],
  ["bytes in a path", { pathBytes: 20 }, { [`${"n".repeat(30)}.txt`]: "long" }],
] as const) {
  test(`too many ${what} are refused`, async () => {
    const into = temporaryFolder();
    const outcome = await fetchIt(createRepository(files).url, { limits, into });
    expect(outcome).toMatchObject({ ok: false, refusal: { code: "source.limited" } });
    expect(readdirSync(into)).not.toContain("repository.git");
  });
}
