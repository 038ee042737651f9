import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeOwnedName } from "@metier/base/files";
import { createMetier } from "@metier/runtime";
import type { Catalog } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../support/temporary.ts";
import { skill } from "../../support/world.ts";

const MANY = 40;

function tree(): { readonly home: string; readonly root: string; readonly file: (name: string) => string } {
  const folder = temporaryFolder();
  const home = join(folder, "home");
  const root = join(home, ".metier/skills");
  for (let index = 0; index < MANY; index++) {
    const directory = join(root, `s${index}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(
      join(directory, "SKILL.md"),
      skill(`s${index}`, index % 3 === 0 ? "unknwn: 1\nallowed-tools: Read" : ""),
    );
  }
  age(root);
  return { home, root, file: (name) => join(root, name, "SKILL.md") };
}

/** An index takes only what has not changed for two seconds on trust; ctime cannot be set, so the clock is. */
function age(root: string): void {
  const past = new Date(Date.now() - 60_000);
  for (const name of readdirSync(root)) utimesSync(join(root, name, "SKILL.md"), past, past);
}

async function list(home: string): Promise<Catalog> {
  return (await createMetier({ cwd: home, home })).catalog;
}

function indexFiles(home: string): readonly string[] {
  const folder = join(home, ".metier/cache/index");
  return readdirSync(folder).map((name) => join(folder, name));
}

/** Makes the index believe that it was written later, so that fresh files count as unchanged. */
function pretendLater(home: string): void {
  for (const file of indexFiles(home)) {
    const [heading, writtenAt, ...lines] = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, [heading, Number(writtenAt) + 10_000, ...lines].join("\n"));
  }
}

describe("the index", () => {
  test("gives the same catalog as reading does", async () => {
    const { home } = tree();
    const cold = await list(home);
    pretendLater(home);
    const warm = await list(home);
    expect(warm.all).toEqual(cold.all);
    expect(warm.diagnostics).toEqual(cold.diagnostics);
    expect(warm.all).toHaveLength(MANY);
    // Also as text: who compares the JSON of two lists sees no difference.
    expect(JSON.stringify(warm.diagnostics)).toBe(JSON.stringify(cold.diagnostics));
    expect(JSON.stringify(warm.all)).toBe(JSON.stringify(cold.all));
  });

  test("is really used for what did not change, and only for that", async () => {
    const { home, file } = tree();
    await list(home);
    pretendLater(home);
    const [path = ""] = indexFiles(home);
    const text = readFileSync(path, "utf8")
      .replace("The s7 skill.", "Of the index.")
      .replace("The s8 skill.", "Also from it.");
    writeFileSync(path, text);
    writeFileSync(file("s8"), skill("s8", "license: MIT"));
    const catalog = await list(home);
    expect(catalog.require("s7").description).toBe("Of the index.");
    expect(catalog.require("s8")).toMatchObject({
      description: "The s8 skill.",
      manifest: { license: "MIT" },
    });
  });

  test("sees a change of the same length and time, by the inode's own time", async () => {
    const { home, file } = tree();
    await list(home);
    pretendLater(home);
    const { atime, mtime } = statSync(file("s1"));
    writeFileSync(file("s1"), skill("s1").replace("The s1", "Own s1"));
    utimesSync(file("s1"), atime, mtime);
    expect((await list(home)).require("s1").description).toBe("Own s1 skill.");
  });

  test("sees added, removed and renamed skills", async () => {
    const { home, root } = tree();
    await list(home);
    pretendLater(home);
    rmSync(join(root, "s3"), { recursive: true });
    mkdirSync(join(root, "added"));
    writeFileSync(join(root, "added/SKILL.md"), skill("added"));
    const names = (await list(home)).names();
    expect(names).toContain("added");
    expect(names).not.toContain("s3");
  });

  test("with a skill added, one changed and one removed it is whole again after one listing", async () => {
    const { home, root, file } = tree();
    await list(home);
    pretendLater(home);
    rmSync(join(root, "s3"), { recursive: true });
    writeFileSync(file("s20"), skill("s20", "license: MIT"));
    mkdirSync(join(root, "added"));
    writeFileSync(join(root, "added/SKILL.md"), skill("added"));
    const changed = await list(home);
    pretendLater(home);
    const before = indexFiles(home).map((path) => readFileSync(path, "utf8"));
    expect((await list(home)).all).toEqual(changed.all);
    expect(indexFiles(home).map((path) => readFileSync(path, "utf8"))).toEqual(before);
    expect(before.join().match(/\/SKILL\.md$/gm)).toHaveLength(MANY);
  });

  test("entries changed within two seconds of its writing are read again", async () => {
    const { home, file } = tree();
    writeFileSync(file("s1"), skill("s1"));
    await list(home);
    const [path = ""] = indexFiles(home);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("The s1 skill.", "Stale."));
    expect((await list(home)).require("s1").description).toBe("The s1 skill.");
  });

  test("a broken, foreign or deleted index is read around and written anew", async () => {
    const { home } = tree();
    const cold = await list(home);
    for (const content of [
      "",
      "{",
      "null",
      "[]",
      '{"format":999}',
      JSON.stringify({ format: 1, root: "/" }),
    ]) {
      for (const file of indexFiles(home)) writeFileSync(file, content);
      expect((await list(home)).all).toEqual(cold.all);
    }
    rmSync(join(home, ".metier/cache"), { recursive: true });
    expect((await list(home)).all).toEqual(cold.all);
  });

  test("one that was cut short is not believed, and what a killed process left goes", async () => {
    const { home } = tree();
    const cold = await list(home);
    pretendLater(home);
    const [path = ""] = indexFiles(home);
    const text = readFileSync(path, "utf8");
    for (const end of [text.length - 1, text.lastIndexOf("end"), text.length >> 1]) {
      writeFileSync(path, text.slice(0, end).replaceAll("The s1 skill.", "Stale."));
      expect((await list(home)).all).toEqual(cold.all);
    }
    const { pid } = spawnSync(process.execPath, ["--eval", ""]);
    const left = makeOwnedName().replace(/^\d+/, String(pid));
    writeFileSync(join(dirname(path), `.${basename(path)}.${left}.tmp`), "half");
    writeFileSync(path, "");
    await list(home);
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  });

  test.each([
    ["a line less", (text: string) => text.replace(/\n[^\n]*s7 skill[^\n]*/, "")],
    ["an entry twice", (text: string) => text.replace(/\n\/s7\/SKILL.md\n[^\n]*\n[^\n]*/, "$&$&")],
    [
      "another value",
      (text: string) => text.replace(/\{"manifest":\{"name":"s7".*/, (line) => "null".padEnd(line.length)),
    ],
    ["a key of another name", (text: string) => text.replaceAll('"description":', '"descri5tion":')],
    ["no name", (text: string) => text.replaceAll('{"name":"s', '{"nam4":"s')],
    ["a listing of another form", (text: string) => text.replace('"folders":', '"foxders":')],
  ])("one with %s is not believed, also after a skill changed", async (_, damage) => {
    const { home, file } = tree();
    const cold = await list(home);
    pretendLater(home);
    const [path = ""] = indexFiles(home);
    const text = readFileSync(path, "utf8");
    expect(damage(text)).not.toBe(text);
    writeFileSync(path, damage(text));
    expect((await list(home)).all).toEqual(cold.all);
    writeFileSync(path, damage(text));
    writeFileSync(file("s9"), skill("s9", "license: MIT"));
    const names = (await list(home)).all.map(({ name, description }) => `${name}: ${description}`);
    expect(names).toEqual(cold.all.map(({ name, description }) => `${name}: ${description}`));
  });

  test("is for the user alone and leaves no temporary files, also with several processes at once", async () => {
    const { home } = tree();
    const script = `import { createMetier } from ${JSON.stringify(join(import.meta.dirname, "../../../packages/metier/src/index.ts"))}; const m = await createMetier({ cwd: ${JSON.stringify(home)}, home: ${JSON.stringify(home)} }); process.stdout.write(String(m.names().length));`;
    const runs = [1, 2, 3].map(() =>
      execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }),
    );
    expect(runs).toEqual([String(MANY), String(MANY), String(MANY)]);
    const files = indexFiles(home);
    expect(files.every((file) => file.endsWith(".txt"))).toBe(true);
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual(files.map(() => 0o600));
  });

  test("a home that cannot be written to is no fault", async () => {
    const { home } = tree();
    writeFileSync(join(home, ".metier/cache"), "not a folder");
    expect((await list(home)).all).toHaveLength(MANY);
  });
});
