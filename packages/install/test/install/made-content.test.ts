/** What a maker knows of what it made, without reading it. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { identifyFolder } from "@metier/skills/trust";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { MANY, openMaker as open, THREADS } from "./maker-threads.ts";

describe.each(THREADS)("what was made in a folder $kind", ({ start }) => {
  test("is known without reading it, as its content identity says", async () => {
    const root = temporaryFolder();
    const maker = open(MANY, start);
    const folder = join(root, "skill");
    for (const path of ["", "b", "b/c", "B", "empty"]) maker.makeFolder(join(folder, path));
    const files = ["SKILL.md", "b/x.sh", "b/c/y", "B/x", "b.md", "a b", ".hidden"];
    for (const [index, path] of files.entries())
      maker.writeFile(join(folder, path), Buffer.from("text".repeat(index)), index === 1 ? 0o755 : 0o644);
    await maker.finish();
    const read = identifyFolder(folder);
    if (!read.ok) expect.unreachable(read.refusal.message);
    const withoutStamps = read.value.files.map(({ stamp: _, ...file }) => file);
    expect(maker.madeIn(folder)?.files).toEqual(withoutStamps);
    expect(maker.madeIn(join(folder, "b"))?.files.map(({ path }) => path)).toEqual(["c/y", "x.sh"]);
  });

  test("is not known with a link, with a name that a file system may store differently, or of another folder", async () => {
    const root = temporaryFolder();
    const maker = open(MANY, start);
    for (const name of ["linked", "linked/below", "named", "plain"]) maker.makeFolder(join(root, name));
    maker.makeLink(join(root, "linked/below/link"), "..");
    maker.writeFile(join(root, "named/caf\u00e9"), Buffer.from("text"), 0o644);
    await maker.finish();
    expect(maker.madeIn(join(root, "linked"))?.files).toBeUndefined();
    expect(maker.madeIn(join(root, "named"))?.files).toBeUndefined();
    expect(maker.madeIn(join(root, "other"))?.files).toBeUndefined();
    expect(maker.madeIn(root)?.files).toBeUndefined();
    expect(maker.madeIn(join(root, "plain"))?.files).toEqual([]);
  });

  test("is not known where files cannot be made executable", async () => {
    const root = temporaryFolder();
    const maker = open(MANY, start);
    maker.makeFolder(join(root, "skill"));
    await maker.finish();
    const before = process.umask(0o111);
    onTestFinished(() => void process.umask(before));
    maker.writeFile(join(root, "skill/run.sh"), Buffer.from("text"), 0o755);
    await maker.finish();
    expect(statSync(join(root, "skill/run.sh")).mode & 0o111).toBe(0);
    expect(maker.madeIn(join(root, "skill"))?.files).toBeUndefined();
  });

  test("is kept up to 32 MiB, and known beyond that", () => {
    const root = temporaryFolder();
    const maker = open(MANY, start);
    maker.makeFolder(join(root, "skill"));
    const half = new Uint8Array(16 * 1024 * 1024);
    for (const name of ["a", "b", "c"]) maker.writeFile(join(root, "skill", name), half, 0o644);
    const content = maker.contentIn(join(root, "skill"));
    expect(content?.files.map(({ path, size }) => `${path} ${size}`)).toEqual(
      ["a", "b", "c"].map((name) => `${name} ${half.length}`),
    );
    expect(["a", "b", "c"].map((name) => content?.read(name)?.length)).toEqual([
      half.length,
      half.length,
      undefined,
    ]);
  });

  test("is not known if this thread makes it", () => {
    const root = temporaryFolder();
    const maker = open(1, start);
    maker.makeFolder(join(root, "skill"));
    expect(maker.madeIn(join(root, "skill"))?.files).toBeUndefined();
  });
});
