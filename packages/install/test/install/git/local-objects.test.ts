/** Repositories on this machine, whose objects are read where they are; each object is what its id says, or refused. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { faultFrom, fetchedFrom, readFolder } from "../../../../../test/support/git-fetching.ts";
import { createRepository, type Repository } from "../../../../../test/support/git-repository.ts";
import { temporaryFolder } from "../../../../../test/support/temporary.ts";
import { skill } from "../../../../../test/support/world.ts";

async function stepsOf(url: string): Promise<readonly string[]> {
  const steps: string[] = [];
  const { folder } = await fetchedFrom(url, { onProgress: ({ what }) => steps.push(what) });
  expect(readFolder(folder)).toEqual({ "skills/a/SKILL.md": skill("a"), "skills/b/SKILL.md": skill("b") });
  return steps;
}

const FILES = { "skills/a/SKILL.md": skill("a"), "skills/b/SKILL.md": skill("b") };

test("a repository on this machine is read where it is: nothing is received, loose or packed", async () => {
  const repository = createRepository(FILES);
  expect(await stepsOf(repository.url)).toEqual(["Resolving the reference"]);
  repository.git("gc", "--quiet");
  expect(await stepsOf(repository.url)).toEqual(["Resolving the reference"]);
  expect(await stepsOf(`${repository.url}#main`)).toEqual(["Resolving the reference"]);
  const part = await fetchedFrom(`${repository.url}#:skills/b`);
  expect(readFolder(part.folder)).toEqual({ "skills/b/SKILL.md": skill("b") });
});

test("a work tree beside others, whose objects lie elsewhere, is fetched", async () => {
  const repository = createRepository(FILES);
  const beside = join(temporaryFolder(), "beside");
  repository.git("worktree", "add", "--quiet", "--detach", beside);
  expect(await stepsOf(pathToFileURL(beside).href)).toContain("Receiving objects");
});

/** Puts other content in the place of an object. */
function replaceObject({ folder }: Repository, id: string, kind: string, content: Buffer): void {
  const file = join(folder, ".git/objects", id.slice(0, 2), id.slice(2));
  chmodSync(file, 0o644);
  writeFileSync(file, deflateSync(Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content])));
}

test("a file or a folder that is not what its id says is refused", async () => {
  const repository = createRepository(FILES);
  const [file, other] = ["HEAD:skills/a/SKILL.md", "HEAD:skills/b"].map((name) =>
    repository.git("rev-parse", name),
  );
  replaceObject(repository, file ?? "", "blob", Buffer.from(skill("another")));
  expect((await faultFrom(repository.url)).code).toBe("source.damaged");

  repository.commit({ ...FILES, "skills/a/SKILL.md": skill("whole again") });
  expect((await fetchedFrom(repository.url)).diagnostics).toEqual([]);
  const moved = repository.git("rev-parse", "HEAD:skills/a");
  const entry = Buffer.concat([Buffer.from("100644 SKILL.md\0"), Buffer.from(moved, "hex")]);
  replaceObject(repository, other ?? "", "tree", entry);
  expect((await faultFrom(repository.url)).code).toBe("source.damaged");
});

test("folders that contain each other many times are refused", async () => {
  const repository = createRepository(FILES);
  const names = Array.from({ length: 12 }, (_, index) => `folder-${index}`);
  for (let level = 0; level < 12; level++) {
    const content = repository.git("rev-parse", "HEAD^{tree}");
    repository.commitRaw(names.map((name) => ({ mode: "040000", name, content, type: "tree" })));
  }
  expect((await faultFrom(repository.url)).code).toBe("source.limited");
});
