/** The native thread and the one of Node read the same: what the native one passes on is the same to the letter. */
import { mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { fetchBatch } from "../../src/catalog/fetch-ahead.ts";
import { createBatchWriter, type Fetched, openFetched } from "../../src/catalog/fetched-batch.ts";
import type { SecondThread } from "../../src/catalog/second-thread.ts";
import { readHead } from "../../src/parse/skill-head.ts";
import { stampOf } from "../../src/trust/content-identity.ts";
import { nativeThreads } from "./native-threads.ts";

const RUNS = Number(process.env.METIER_FUZZ_RUNS ?? 300);
const [native] = nativeThreads;

function startNative(): SecondThread {
  return native?.start() ?? expect.unreachable("This group is skipped without it.");
}

/** Everything that was fetched of a folder, by key. */
function read(fetched: Fetched | undefined, keys: readonly string[]): readonly unknown[] {
  return keys.map((key) => (key.endsWith("/") ? fetched?.folder(key) : fetched?.file(key)));
}

function fetchBoth(root: string, name: string, keys: readonly string[]) {
  const batch = fetchBatch({ root, withHeads: true }, [name], createBatchWriter());
  return {
    here: read(
      startNative()
        .readAhead({ root, folders: [name], withHeads: true })
        .turn(name),
      keys,
    ),
    there: read(openFetched(batch), keys),
  };
}

describe.skipIf(native === undefined)("the native thread", () => {
  test("passes on usual skills as the thread of Node does", () => {
    const root = temporaryFolder();
    writeTree(root, {
      "a/SKILL.md": skillText("name: a\ndescription: Grüße – 🙂.", "Eins 🙂\n\nzwei 三"),
      "a/scripts/run.sh": "true",
      "a/references/b/deep.md": "x",
      "a/ö/x": "",
      "a/z/y": "",
      "group/b/SKILL.md": skillText("name: b\ndescription: In a group."),
      "group/c/SKILL.md": skillText("name: c\ndescription: No body.", ""),
    });
    const skill = [
      "/a/",
      "/a/references/",
      "/a/references/b/",
      "/a/scripts/",
      "/a/z/",
      "/a/ö/",
      "/a/SKILL.md",
    ];
    const group = ["/group/", "/group/b/", "/group/c/", "/group/b/SKILL.md", "/group/c/SKILL.md"];
    for (const keys of [skill, group]) {
      const { here, there } = fetchBoth(root, keys === skill ? "a" : "group", keys);
      expect(here).toEqual(there);
      expect(here).not.toContain(undefined);
    }
  });

  test("leaves out what is unusual, and only that", () => {
    const root = temporaryFolder();
    const text = skillText("name: a\ndescription: A skill.");
    writeTree(root, {
      "cases/SKILL.md": text,
      "cases/skill.md": text,
      "kelvin/s\u212aill.md": text,
      "ignored/.gitignore": "*\n",
      "ignored/SKILL.md": text,
      'quoted/in"side/x': "",
      "quoted/SKILL.md": text,
      "astral/🙂/x": "",
      "linked/SKILL.md": text,
      "large/SKILL.md": `${text}${"x".repeat(128 * 1024)}`,
      "old/SKILL.md": text,
      "usual/SKILL.md": text,
    });
    symlinkSync("SKILL.md", join(root, "linked", "other"));
    mkdirSync(join(root, "folder", "SKILL.md"), { recursive: true });
    const before = new Date("1960-01-01");
    utimesSync(join(root, "old", "SKILL.md"), before, before);
    const folders = [
      ...["absent", "astral", "cases", "folder", "ignored", "kelvin", "large", "linked"],
      ...[".git", "old", "quoted", "usual"],
    ];
    const ahead = startNative().readAhead({ root, folders, withHeads: true });
    const passedOn = folders.filter((name) => ahead.turn(name)?.folder(`/${name}/`) !== undefined);
    expect(passedOn).toEqual(["folder", "large", "old", "usual"]);
    const again = startNative().readAhead({ root, folders, withHeads: true });
    const files = folders.filter((name) => again.turn(name)?.file(`/${name}/SKILL.md`) !== undefined);
    expect(files).toEqual(["usual"]);
  });

  test("reads no file where its head is not enough", () => {
    const root = temporaryFolder();
    writeTree(root, { "a/SKILL.md": skillText("name: a\ndescription: A skill.") });
    const fetched = startNative()
      .readAhead({ root, folders: ["a"], withHeads: false })
      .turn("a");
    expect(fetched?.folder("/a/")).toMatchObject({ listing: "1" });
    expect(fetched?.file("/a/SKILL.md")).toBeUndefined();
  });

  test("gives batches in their order, skips some, and ends when nobody asks anymore", () => {
    const root = temporaryFolder();
    const folders = Array.from({ length: 5000 }, (_, number) => `s${String(number).padStart(4, "0")}`);
    for (const name of folders.slice(0, 200)) writeTree(root, { [`${name}/SKILL.md`]: "" });
    const ahead = startNative().readAhead({ root, folders, withHeads: true });
    expect(ahead.turn("s0000")?.folder("/s0000/")).toBeDefined();
    expect(ahead.turn("s0100")?.folder("/s0100/")).toBeDefined();
    expect(ahead.turn("s0001")?.folder("/s0001/")).toBeUndefined();
    expect(ahead.turn("s4999")?.folder("/s4999/")).toBeUndefined();
    startNative().readAhead({ root, folders, withHeads: true }); // Dropped with more batches than may wait.
    startNative()
      .readAhead({ root: join(root, "absent"), folders, withHeads: true })
      .turn("s4999");
  });

  test("leaves out what is too deep for a path, which nobody could open", () => {
    const folder = temporaryFolder();
    const name = "n".repeat(200);
    let root = folder;
    while (root.length < 3800) root = join(root, name);
    root = join(root, "n".repeat(4000 - root.length)); // 4,096 is the limit.
    mkdirSync(root, { recursive: true });
    const before = process.cwd();
    try {
      process.chdir(root); // A path from here is short enough to make them.
      writeTree(".", { "a/SKILL.md": "", [`a/${name}/x/SKILL.md`]: "" });
    } finally {
      process.chdir(before);
    }
    const fetched = startNative()
      .readAhead({ root, folders: ["a"], withHeads: true })
      .turn("a");
    expect(fetched?.folder("/a/")).toBeDefined();
    expect(fetched?.folder(`/a/${name}/`)).toBeUndefined();
  });

  test("an index is unchanged only if each of its keys is a path that leads to its stamp", () => {
    const root = temporaryFolder();
    writeTree(root, { "ä/SKILL.md": "" });
    const stampAt = (path: string): string => stampOf(statSync(join(root, path), { bigint: true }));
    const check = (entries: string, encoding: BufferEncoding = "utf8"): boolean => {
      const bytes = new Uint8Array(Buffer.from(`before\n${entries}after\n`, encoding)).buffer;
      const [start, end] = [7, bytes.byteLength - 6];
      const work = { root, bytes, start, end, firstByte: start, endByte: end };
      return startNative()
        .checkStamps({ ...work, writtenAt: Date.now() + 60_000 })
        .end();
    };
    const [folder, file] = [stampAt("ä"), stampAt("ä/SKILL.md")];
    const good = `/\n${stampAt("")}\n{}\n/ä/\n${folder}\n{}\n/ä/SKILL.md\n${file}\n1\n`;
    expect(check("")).toBe(true);
    expect(check(good)).toBe(true);
    for (const wrong of [
      `${good}/ä/\n${folder}\n`, // An entry lacks a line.
      `${good}/ä/\n${folder}0\n{}\n`,
      `${good}/ä/absent\n${folder}\n{}\n`,
      `${good}/ä\0/x\n${folder}\n{}\n`,
      `${good}ä/\n${folder}\n{}\n`,
      `${good}\n${folder}\n{}\n`,
      `${good}/${"x/".repeat(3000)}\n${folder}\n{}\n`,
    ])
      expect(check(wrong), wrong.slice(good.length)).toBe(false);
    expect(check(good, "latin1")).toBe(false);
    writeTree(root, { "ä/SKILL.md": "changed" });
    expect(check(good)).toBe(false);
  });

  test("a file is read as JavaScript reads it, whatever is in it", () => {
    const root = temporaryFolder();
    const file = join(root, "a", "SKILL.md");
    mkdirSync(join(root, "a"));
    const piece = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom("---\n", "---", "\n", "name: a\n", "description: b\n", "Text.\n"),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom("--- \n", "----\n", "# x\n", " ", "\t", "\r\n", "é", "三", "🙂", "…"),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom("\ufeff", "\u00a0", "\u2028", "\u3000", "\u1680", "\u205f", "\0", "\v"),
      },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
    );
    const bytes = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((parts) => Buffer.from(`---\nname: a\n${parts.join("")}`)),
      fc.array(piece, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(""))),
      fc
        .tuple(fc.array(piece, { maxLength: 6 }), fc.uint8Array({ maxLength: 8 }))
        .map(([parts, odd]) => Buffer.concat([Buffer.from(`---\nname: a\n---\n${parts.join("")}`), odd])),
    );
    let usual = 0;
    fc.assert(
      fc.property(bytes, (content) => {
        writeFileSync(file, content);
        const fetched = startNative()
          .readAhead({ root, folders: ["a"], withHeads: true })
          .turn("a");
        const head = fetched?.file("/a/SKILL.md")?.content;
        if (head === undefined) return;
        usual++;
        expect(Buffer.from(content.toString("utf8"))).toEqual(content);
        expect(head).toEqual(readHead(content.toString("utf8")));
      }),
      { numRuns: RUNS },
    );
    expect(usual).toBeGreaterThan(RUNS / 30);
  });
});
