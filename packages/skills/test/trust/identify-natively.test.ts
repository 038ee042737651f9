/** Folders as anyone can make them: the C code gives what JavaScript gives, or leaves the folder to it. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRandom } from "../../../../test/support/random.ts";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { identifyContent, identifyFolder, type StampedFile } from "../../src/trust/content-identity.ts";
import { identifyNatively } from "../../src/trust/identify-natively.ts";
import { IDENTITY_LIMITS, type IdentityLimits } from "../../src/trust/list-content.ts";

const isBuilt = identifyNatively(import.meta.dirname, IDENTITY_LIMITS) !== undefined;

test.runIf(process.env.METIER_REQUIRE_NATIVE === "1")("the build made the C code that identifies", () => {
  expect(isBuilt).toBe(true);
});

/** A skill, other than a folder, is always read by JavaScript. */
function byJavaScript(folder: string): readonly StampedFile[] | undefined {
  const identified = identifyContent({
    form: "directory",
    directory: folder,
    location: join(folder, "SKILL.md"),
  });
  return identified.ok ? identified.value.files : undefined;
}

function makeFolder(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const folder = join(temporaryFolder(), "folder");
  writeTree(folder, { "SKILL.md": "text", ...files });
  return folder;
}

const NAMES = ["a", "B", "b.md", "~", "!", "a b", "-", ".git", "a-b", "a.b", "0", "scripts", "SKILL.md.old"];

function fill(folder: string, random: () => number, depth: number): void {
  for (const name of NAMES.filter(() => random() < 0.4)) {
    const path = join(folder, name);
    if (random() < 0.3 && depth < 4) {
      mkdirSync(path);
      fill(path, random, depth + 1);
      continue;
    }
    writeFileSync(path, Buffer.alloc(Math.floor(random() ** 4 * 70_000), name));
    if (random() < 0.3) chmodSync(path, [0o755, 0o700, 0o401, 0o4755][Math.floor(random() * 4)] ?? 0o644);
    if (random() < 0.2) utimesSync(path, Math.floor(random() * 4e9), random() * 4e9);
  }
}

test.skipIf(!isBuilt)("any tree of usual files has the same files, digests and stamps", () => {
  const random = createRandom(11);
  for (let round = 0; round < 200; round++) {
    const folder = makeFolder();
    fill(folder, random, 0);
    const found = identifyNatively(folder, IDENTITY_LIMITS);
    expect(found).toEqual(byJavaScript(folder));
    expect(found).toBeDefined();
  }
});

const MEGABYTE = 1024 * 1024;
/** What is made in a folder, beside its skill file. */
const UNUSUAL: Readonly<Record<string, (folder: string) => void>> = {
  "a link": (folder) => symlinkSync("SKILL.md", join(folder, "link")),
  "a link to a folder": (folder) => symlinkSync(".", join(folder, "link")),
  "a pipe": (folder) => void execFileSync("mkfifo", [join(folder, "pipe")]),
  "a name that is not ASCII": (folder) => writeFileSync(join(folder, "é"), ""),
  "a name that is not UTF-8": (folder) =>
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]), ""),
  "a name with a line break": (folder) => writeFileSync(join(folder, "a\nb"), ""),
  "a name with a tab": (folder) => writeFileSync(join(folder, "a\tb"), ""),
  "a large file": (folder) => writeFileSync(join(folder, "large"), Buffer.alloc(MEGABYTE + 1)),
  "a date before 1970": (folder) => utimesSync(join(folder, "SKILL.md"), 0, new Date(-5000)),
  "33 levels": (folder) => mkdirSync(join(folder, "a/".repeat(33)), { recursive: true }),
};

for (const [what, make] of Object.entries(UNUSUAL)) {
  test.skipIf(!isBuilt)(`a folder with ${what} is left to JavaScript`, () => {
    const folder = makeFolder();
    make(folder);
    expect(identifyNatively(folder, IDENTITY_LIMITS)).toBeUndefined();
    const identified = identifyFolder(folder);
    expect(identified.ok ? identified.value.files : undefined).toEqual(byJavaScript(folder));
  });
}

test.skipIf(!isBuilt)("what is at a limit is read, and what is above it is left", () => {
  const folder = makeFolder({ "a/b.md": "12345", "a/empty.md": "", "full.bin": Buffer.alloc(MEGABYTE) });
  const [entries, bytes] = [5, 4 + 5 + MEGABYTE];
  const read = (limits: IdentityLimits): number | undefined => identifyNatively(folder, limits)?.length;
  expect(read({ entries, bytes })).toBe(4);
  expect(read({ entries: entries - 1, bytes })).toBeUndefined();
  expect(read({ entries, bytes: bytes - 1 })).toBeUndefined();
});

test.skipIf(!isBuilt)(
  "an empty folder has no files; one that is none, or has a zero in its name, is left",
  () => {
    const folder = temporaryFolder();
    expect(identifyNatively(folder, IDENTITY_LIMITS)).toEqual([]);
    writeFileSync(join(folder, "file"), "");
    for (const wrong of ["file", "missing", "a\0b"])
      expect(identifyNatively(join(folder, wrong), IDENTITY_LIMITS)).toBeUndefined();
  },
);

test.skipIf(!isBuilt)("32 levels of folders are read", () => {
  const folder = makeFolder({ [`${"a/".repeat(32)}b.md`]: "text" });
  expect(identifyNatively(folder, IDENTITY_LIMITS)).toHaveLength(2);
  expect(identifyNatively(folder, IDENTITY_LIMITS)).toEqual(byJavaScript(folder));
});

test.skipIf(!isBuilt)("a folder may be reached by a link, and its own name need not be ASCII", () => {
  const folder = makeFolder({ "é/a.md": "a", "real/a.md": "a" });
  symlinkSync("real", join(folder, "link"));
  symlinkSync(join(folder, "link"), join(folder, "other"));
  for (const name of ["é", "link", "other"])
    expect(identifyNatively(join(folder, name), IDENTITY_LIMITS)).toMatchObject([{ path: "a.md", size: 1 }]);
});

test.skipIf(!isBuilt)("a link to a name that is not UTF-8 is left to JavaScript, which refuses it", () => {
  const folder = temporaryFolder();
  mkdirSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]));
  symlinkSync(Buffer.from([0xff]), join(folder, "link"));
  expect(identifyNatively(join(folder, "link"), IDENTITY_LIMITS)).toBeUndefined();
  expect(identifyFolder(join(folder, "link")).ok).toBe(false);
});

/** Of a path, without the zero at its end. */
const LONGEST = 4095;

/** The path of its only file has this many bytes. `lengthen` makes it one more, which nobody can make at once. */
function makeLong(bytes: number, last: "file" | "folder"): { readonly folder: string; lengthen(): void } {
  const folder = join(temporaryFolder(), "folder");
  const above = join(folder, "a", ...Array.from({ length: 16 }, () => "b".repeat(240)));
  const path = join(above, "c".repeat(bytes - above.length - 1));
  mkdirSync(last === "file" ? above : path, { recursive: true });
  if (last === "file") writeFileSync(path, "text");
  const rename = (from: string, to: string): void => renameSync(join(folder, from), join(folder, to));
  return {
    folder,
    lengthen() {
      rename("a", "aa");
      onTestFinished(() => rename("aa", "a")); // So that it can be removed.
    },
  };
}

for (const last of ["file", "folder"] as const) {
  test.skipIf(!isBuilt)(
    `a ${last} with a path longer than any that can be opened is left to JavaScript`,
    () => {
      const { folder, lengthen } = makeLong(LONGEST, last);
      const [shorter, longer] = [join(folder, "../a"), join(folder, "../a-long-link")];
      for (const link of [shorter, longer]) symlinkSync("folder", link);
      const count = last === "file" ? 1 : 0;
      for (const name of [folder, shorter])
        expect(identifyNatively(name, IDENTITY_LIMITS)).toHaveLength(count);
      expect(identifyNatively(longer, IDENTITY_LIMITS)).toBeUndefined();
      lengthen();
      for (const name of [folder, shorter]) {
        expect(identifyNatively(name, IDENTITY_LIMITS)).toBeUndefined();
        expect(identifyFolder(name)).toMatchObject({ refusal: { code: "identity.unreadable" } });
      }
    },
  );
}

test.skipIf(!isBuilt || process.getuid?.() === 0)("a file that cannot be read is left to JavaScript", () => {
  const folder = makeFolder({ "closed.md": "text" });
  chmodSync(join(folder, "closed.md"), 0);
  expect(identifyNatively(folder, IDENTITY_LIMITS)).toBeUndefined();
});
