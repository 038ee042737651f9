import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lockEntry } from "../../../../test/support/locks.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import {
  calledAs,
  type Lock,
  type LockEntry,
  type LockOwner,
  SOURCE_KINDS,
  withEntry,
} from "../../src/lock/lock.ts";
import { LOCK_LIMITS, parseLock, renderLock } from "../../src/lock/lock-file-format.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;

function parsed(text: string, owner: LockOwner = "project"): Lock {
  const outcome = parseLock(text, owner);
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  return outcome.value;
}

/** A sound lock with one entry, in which a line is replaced. */
function changed(line: RegExp, by: string): string {
  const text = renderLock({ skills: [lockEntry("pdf")] });
  expect(text).toMatch(line);
  return text.replace(line, () => by);
}

describe("as text", () => {
  test("one table for each skill, sorted, one key a line, under a comment that says what it is", () => {
    const text = renderLock({
      skills: [
        lockEntry("zip", { ref: "v2" }),
        lockEntry("pdf", {
          alias: "documents",
          placed: [{ client: "claude-code", path: ".claude/skills/pdf", how: "link" }],
          previous: { digest: DIGEST, resolved: "old", ref: "v1" },
        }),
      ],
    });
    expect(text).toMatch(/^# Made by metier; commit it\./);
    expect(text.slice(text.indexOf("version"))).toBe(`version = 1

[skills.documents]
name = "pdf"
source = "https://example.com/skills.git"
kind = "git"
resolved = "0123456789abcdef0123456789abcdef01234567"
path = "skills/pdf"
digest = "sha256:${"0".repeat(64)}"

[[skills.documents.placed]]
client = "claude-code"
path = ".claude/skills/pdf"
how = "link"

[skills.documents.previous]
digest = "${DIGEST}"
resolved = "old"
ref = "v1"

[skills.zip]
source = "https://example.com/skills.git"
kind = "git"
ref = "v2"
resolved = "0123456789abcdef0123456789abcdef01234567"
path = "skills/zip"
digest = "sha256:${"0".repeat(64)}"
`);
  });

  test("whatever a lock holds is read back the same, and is the same bytes in any order", () => {
    fc.assert(
      fc.property(anyLock, fc.integer(), (lock, seed) => {
        const text = renderLock(lock);
        const read = parsed(text);
        expect(read.skills).toEqual(inOrder(lock).skills);
        expect(renderLock(read)).toBe(text);
        const turned = lock.skills.toSorted((a, b) => order(a, seed) - order(b, seed));
        expect(renderLock({ skills: turned })).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  test("a lock of before is what it was: the form is stable", () => {
    const text = renderLock({ skills: [lockEntry("pdf")] });
    expect(parsed(text.replaceAll("\n", "\r\n"))).toEqual(parsed(text));
    expect(parsed(`\uFEFF${text}`)).toEqual(parsed(text));
  });

  test("[U18] who and when of earlier versions is read, kept where nothing changes, and never written anew", () => {
    const dated = {
      installedBy: "ada",
      installedAt: "2026-01-31T12:00:00Z",
      updatedAt: "2026-02-01T12:00:00Z",
    };
    const old = renderLock({ skills: [lockEntry("pdf", dated), lockEntry("zip", dated)] });
    expect(old).toContain('installed-by = "ada"');
    const read = parsed(old);
    expect(read.skills[0]).toMatchObject(dated);
    expect(renderLock(read)).toBe(old);
    const changed = withEntry(read, { ...lockEntry("pdf", dated), ref: "v2" });
    expect(changed.skills.map(({ name, installedBy }) => [name, installedBy])).toEqual([
      ["zip", "ada"],
      ["pdf", undefined],
    ]);
    expect(changed.skills.at(-1)).toEqual(lockEntry("pdf", { ref: "v2" }));
  });

  test("two branches that add a skill each merge, unless they are neighbours", () => {
    const skills = ["b", "d", "f"].map((name) => lockEntry(name));
    const base = renderLock({ skills });
    const ours = renderLock({ skills: [...skills, lockEntry("a")] });
    const theirs = renderLock({ skills: [...skills, lockEntry("e")] });
    const merged = merge(base, ours, theirs);
    expect(merged.status).toBe(0);
    expect(parsed(merged.text).skills.map(calledAs)).toEqual(["a", "b", "d", "e", "f"]);

    const clash = merge(base, ours, renderLock({ skills: [...skills, lockEntry("aa")] }));
    expect(parseLock(clash.text, "project")).toMatchObject({
      ok: false,
      refusal: {
        message: expect.stringContaining("conflict markers"),
        hint: expect.stringContaining("metier install"),
        line: expect.any(Number),
      },
    });
  });
});

function merge(base: string, ours: string, theirs: string) {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries({ base, ours, theirs })) writeFileSync(join(folder, name), text);
  const { status } = spawnSync("git", ["merge-file", "ours", "base", "theirs"], { cwd: folder });
  return { status, text: readFileSync(join(folder, "ours"), "utf8") };
}

describe("what is refused", () => {
  test.each<[string, string, string]>([
    ["a version of the future", changed(/version = 1/, "version = 2"), "version 1"],
    ["no version", "[skills]\n", "`version` is missing"],
    ["a key that is not known", changed(/^path = /m, 'sandbox = "none"\npath = '), "`sandbox`"],
    ["a top-level key that is not known", changed(/version = 1/, "version = 1\nnext = true"), "`next`"],
    ["a digest of another kind", changed(/sha256:0+/, "md5:0123"), "64 hexadecimal digits"],
    ["a digest that is too short", changed(/sha256:0+/, "sha256:00"), "64 hexadecimal digits"],
    ["a digest in capitals", changed(/sha256:0+/, `sha256:${"A".repeat(64)}`), "64 hexadecimal digits"],
    ["no digest", changed(/^digest = .*\n/m, ""), "has no `digest`"],
    ["a kind that does not exist", changed(/"git"/, '"rsync"'), "`well-known`"],
    ["a path that goes up", changed(/"skills\/pdf"/, '"../pdf"'), "a path inside the source"],
    ["an absolute path", changed(/"skills\/pdf"/, '"/etc"'), "a path inside the source"],
    ["a path with backslashes", changed(/"skills\/pdf"/, '"a\\\\b"'), "a path inside the source"],
    ["a name that goes up", changed(/skills\.pdf/, 'skills."../../x"'), "is not a valid skill name"],
    ["a name with capitals", changed(/skills\.pdf/, "skills.PDF"), "is not a valid skill name"],
    ["a name that is not normal", changed(/skills\.pdf/, 'skills."\uFB01le"'), "is not a valid skill name"],
    ["an empty name", changed(/skills\.pdf/, 'skills.""'), "is not a valid skill name"],
    ["`__proto__` as a name", changed(/skills\.pdf/, "skills.__proto__"), "is not a valid skill name"],
    ["a manifest name that goes up", changed(/^source/m, 'name = "../x"\nsource'), "lowercase letters"],
    ["a number for a text", changed(/^resolved = .*$/m, "resolved = 1"), "a single line"],
    ["a line break in a source", changed(/^source = .*$/m, 'source = "a\\nb"'), "a single line"],
    ["an empty source", changed(/^source = .*$/m, 'source = ""'), "a single line"],
    ["a source without end", changed(/^source = .*$/m, `source = "${"x".repeat(5000)}"`), "4096 characters"],
    [
      "a time that is none",
      changed(/^digest/m, 'installed-at = "2026-13-77T12:00:00Z"\ndigest'),
      "a time such as",
    ],
    ["a bare time", changed(/^digest/m, "installed-at = 2026-01-31T12:00:00Z\ndigest"), "a time such as"],
    ["`linked = false`", changed(/^digest/m, "linked = false\ndigest"), "or absent"],
    [
      "a linked repository",
      changed(/^digest/m, "linked = true\ndigest"),
      '`linked` is for `kind = "folder"`',
    ],
    [
      "linked and copied at once",
      changed(/^digest/m, "linked = true\ncopied = true\ndigest"),
      "`copied` is for",
    ],
    ["a list of skills", "version = 1\nskills = []\n", "`skills` must have a table"],
    ["a skill that is a text", 'version = 1\n[skills]\npdf = "x"\n', "`skills.pdf` must be a table"],
    ["no copies where some are said to be", changed(/^digest/m, "placed = []\ndigest"), "1 to 200 tables"],
    ["what is no TOML", "version = 1\n[skills.pdf\n", "not TOML"],
    ["nesting without end", `version = 1\nx = ${"[".repeat(50_000)}`, ""],
  ])("%s", (_what, text, message) => {
    const outcome = parseLock(text, "project");
    expect(outcome.ok).toBe(false);
    if (outcome.ok) return;
    expect(outcome.refusal.message).toContain(message);
    expect(outcome.refusal.hint).not.toBe("");
  });

  test("the line of the wrong value is named, and an invisible value cannot hide in the message", () => {
    const text = changed(/"git"/, '"g\u202Eit"');
    const outcome = parseLock(text, "project");
    expect(outcome).toMatchObject({
      ok: false,
      refusal: {
        line: text.split("\n").findIndex((line) => /kind/.test(line)) + 1,
      },
    });
    expect(!outcome.ok && outcome.refusal.message).toContain("`g\\u{202e}it`");
  });

  test("one skill twice, as after a merge, with what to do", () => {
    const text = renderLock({ skills: [lockEntry("pdf")] });
    const outcome = parseLock(text + text.slice(text.indexOf("[skills")), "project");
    expect(outcome).toMatchObject({
      ok: false,
      refusal: {
        message: "A table or key appears twice.",
        hint: expect.stringContaining("Keep only one table"),
      },
    });
    expect(!outcome.ok && outcome.refusal.line).toBeGreaterThan(5);
  });

  test.each(["/etc", "../x", "a/../../x", "C:\\x", "", "a//b", "./a"])(
    "a copy of a project at `%s`, which is not plainly inside of it",
    (path) => {
      const text = renderLock({
        skills: [lockEntry("pdf", { placed: [{ client: "c", path, how: "copy" }] })],
      });
      expect(parseLock(text, "project")).toMatchObject({
        ok: false,
        refusal: {
          message: expect.stringContaining("a path inside the project"),
        },
      });
    },
  );

  test("a relative copy in the user's lock, where an absolute one is allowed", () => {
    const at = (path: string) =>
      parseLock(
        renderLock({ skills: [lockEntry("pdf", { placed: [{ client: "c", path, how: "copy" }] })] }),
        "user",
      ).ok;
    expect(at("/home/me/.claude/skills/pdf")).toBe(true);
    expect(at(".claude/skills/pdf")).toBe(false);
    expect(at("/home/me/../you")).toBe(false);
  });

  test("a linked folder outside of the project in the project's lock, which the user's may name", () => {
    const linked = (resolved: string) =>
      renderLock({ skills: [lockEntry("pdf", { kind: "folder", linked: true, resolved })] });
    expect(parseLock(linked("/home/me/pdf"), "project")).toMatchObject({
      ok: false,
      refusal: {
        message: expect.stringContaining("a path inside the project"),
      },
    });
    expect(parseLock(linked("tools/pdf"), "project").ok).toBe(true);
    expect(parseLock(linked("/home/me/pdf"), "user").ok).toBe(true);
  });

  test("more skills or bytes than a lock may have", () => {
    const many = Array.from({ length: LOCK_LIMITS.skills + 1 }, (_, index) => lockEntry(`s${index}`));
    expect(parseLock(renderLock({ skills: many }), "project")).toMatchObject({
      ok: false,
      refusal: {
        message: expect.stringContaining("5001 skills"),
      },
    });
    expect(parseLock("#".repeat(LOCK_LIMITS.bytes + 1), "project").ok).toBe(false);
  });
});

const anyText = fc
  .string({ unit: "binary", minLength: 1, maxLength: 60 })
  .filter((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.isWellFormed());
const anyName = fc.stringMatching(/^[a-z0-9é中]{1,8}(-[a-z0-9]{1,4}){0,2}$/);
const anyDigest = fc.stringMatching(/^sha256:[0-9a-f]{64}$/);
const anyTime = fc
  .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());
const anyPath = fc.stringMatching(/^[a-z][a-z0-9]{0,6}(\/[a-z0-9 ]{0,5}[a-z]){0,3}$/);

const anyEntry: fc.Arbitrary<LockEntry> = fc.record(
  {
    name: anyName,
    alias: anyName,
    source: anyText,
    kind: fc.constantFrom(...SOURCE_KINDS),
    ref: anyText,
    resolved: anyText,
    path: fc.oneof(fc.constant(""), anyPath),
    digest: anyDigest,
    copied: fc.constant(true as const),
    installedBy: anyText,
    installedAt: anyTime,
    updatedAt: anyTime,
    placed: fc.array(
      fc.record({
        client: fc.constantFrom("claude-code", "codex", "agents"),
        path: anyPath,
        how: fc.constantFrom("link" as const, "copy" as const),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    previous: fc.record(
      { digest: anyDigest, resolved: anyText, ref: anyText, updatedAt: anyTime },
      { requiredKeys: ["digest", "resolved"] },
    ),
  },
  { requiredKeys: ["name", "source", "kind", "resolved", "path", "digest"] },
);

const anyLock: fc.Arbitrary<Lock> = fc
  .uniqueArray(
    anyEntry.filter(({ name, alias }) => name !== alias),
    { selector: calledAs, maxLength: 6 },
  )
  .map((skills) => ({ skills: skills.map((entry) => ({ ...entry, placed: inPlaceOrder(entry.placed) })) }))
  .map(({ skills }) => ({ skills: skills.map(withoutUndefined) }));

function inPlaceOrder(placed: LockEntry["placed"]): LockEntry["placed"] {
  const key = ({ client, path }: { readonly client: string; readonly path: string }) => `${client}\0${path}`;
  return placed?.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

function withoutUndefined(entry: object): LockEntry {
  return Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== undefined),
  ) as unknown as LockEntry;
}

function inOrder({ skills }: Lock): Lock {
  return { skills: skills.toSorted((a, b) => (calledAs(a) < calledAs(b) ? -1 : 1)) };
}

function order({ digest }: LockEntry, seed: number): number {
  return (digest.charCodeAt(10) * (seed | 1)) % 101;
}
