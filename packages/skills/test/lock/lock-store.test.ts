import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeOwnedName } from "@metier/base/files";
import { metierPlaces } from "@metier/base/places";
import { describe, expect, test } from "vitest";
import { lockEntry, record } from "../../../../test/support/locks.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import {
  EMPTY_LOCK,
  findEntry,
  isWithinOwner,
  type LockFile,
  lockedFolder,
  placedFolder,
  projectLockFile,
  storeFolder,
  userLockFile,
  withEntry,
  withoutEntry,
} from "../../src/lock/lock.ts";
import { changeLock, readLock } from "../../src/lock/lock-store.ts";

function usersLock(): LockFile {
  return userLockFile(metierPlaces(temporaryFolder()));
}

describe("a lock file", () => {
  test("that is missing or empty is an empty lock", () => {
    const lock = usersLock();
    expect(readLock(lock)).toEqual({ ok: true, value: EMPTY_LOCK });
    mkdirSync(dirname(lock.path));
    writeFileSync(lock.path, "\n");
    expect(readLock(lock)).toEqual({ ok: true, value: EMPTY_LOCK });
  });

  test("is changed, read back, and not touched where nothing changes", () => {
    const lock = usersLock();
    record(lock, lockEntry("pdf"), lockEntry("zip"));
    const { ino } = statSync(lock.path);
    expect(statSync(lock.path).mode & 0o777).toBe(0o600);
    record(lock, lockEntry("zip"), lockEntry("pdf"));
    changeLock(lock, (before) => withoutEntry(before, "nobody"));
    expect(statSync(lock.path).ino).toBe(ino);
    const outcome = changeLock(lock, (before) => withoutEntry(before, "pdf"));
    expect(outcome).toEqual(readLock(lock));
    expect(outcome).toMatchObject({ ok: true, value: { skills: [{ name: "zip" }] } });
    expect(readdirSync(dirname(lock.path))).toEqual(["metier.lock"]);
  });

  test("of a project is for everyone who reads the project", () => {
    const lock = projectLockFile(temporaryFolder());
    record(lock, lockEntry("pdf"));
    expect(statSync(lock.path).mode & 0o777 & ~process.umask()).toBe(0o644 & ~process.umask());
  });

  test("is found by what the catalog calls the skill", () => {
    const renamed = lockEntry("pdf", { alias: "documents" });
    const lock = withEntry(withEntry(EMPTY_LOCK, renamed), lockEntry("pdf"));
    expect(findEntry(lock, "documents")).toBe(renamed);
    expect(findEntry(lock, "pdf")).toEqual(lockEntry("pdf"));
    expect(withEntry(lock, { ...renamed, ref: "v2" }).skills).toHaveLength(2);
  });

  test.each([
    [
      "conflict markers",
      "<<<<<<< ours\nversion = 1\n=======\nversion = 1\n>>>>>>> theirs\n",
      "conflict markers",
      1,
    ],
    ["a version of the future", "version = 99\n", "`99`", 1],
    ["bytes that are no UTF-8", Buffer.from([0x76, 0xff, 0xfe]), "UTF-8", undefined],
  ])("with %s is neither used nor overwritten", (_what, content, message, line) => {
    const lock = projectLockFile(temporaryFolder());
    writeFileSync(lock.path, content);
    const outcome = readLock(lock);
    expect(outcome).toMatchObject({
      ok: false,
      refusal: { code: "lock.unusable", severity: "error", path: lock.path, hint: expect.any(String) },
    });
    expect(!outcome.ok && outcome.refusal.message).toContain(message);
    expect(!outcome.ok && outcome.refusal.line).toBe(line);
    let asked = false;
    const change = changeLock(lock, (before) => {
      asked = true;
      return before;
    });
    expect(change).toEqual(outcome);
    expect(asked).toBe(false);
    expect(readFileSync(lock.path)).toEqual(Buffer.from(content as string));
  });

  test.each(["metier.lock", "metier.lock.lock"])(
    "is never written or read through a link that a project put at `%s`",
    (name) => {
      const root = temporaryFolder();
      const target = join(temporaryFolder(), "precious");
      symlinkSync(name === "metier.lock" ? target : "/dev/zero", join(root, name));
      const lock = projectLockFile(root);
      const outcome = changeLock(lock, (before) => withEntry(before, lockEntry("pdf")));
      expect(outcome.ok).toBe(name !== "metier.lock");
      expect(readdirSync(dirname(target))).toEqual([]);
    },
  );

  test("that is a folder is not used", () => {
    const lock = projectLockFile(temporaryFolder());
    mkdirSync(lock.path);
    expect(readLock(lock)).toMatchObject({ ok: false, refusal: { code: "lock.unusable" } });
  });

  test("is not written where what would be written could not be read", () => {
    const lock = projectLockFile(temporaryFolder());
    const entry = lockEntry("pdf", { placed: [{ client: "c", path: "/etc", how: "copy" }] });
    expect(() => changeLock(lock, (before) => withEntry(before, entry))).toThrow("a path inside the project");
    expect(readdirSync(dirname(lock.path))).toEqual([]);
  });
});

describe("what a lock names", () => {
  test("lies in the store, in the linked folder, or in the project's own copy", () => {
    const places = metierPlaces("/home/me");
    const project = projectLockFile("/work/p");
    const user = userLockFile(places);
    expect(lockedFolder(places, user, lockEntry("pdf"))).toBe("/home/me/.metier/store/pdf@0000000000000000");
    expect(storeFolder(places, lockEntry("pdf"))).toBe(lockedFolder(places, project, lockEntry("pdf")));
    const linked = lockEntry("pdf", { kind: "folder", linked: true, resolved: "tools/pdf" });
    expect(lockedFolder(places, project, linked)).toBe("/work/p/tools/pdf");
    expect(lockedFolder(places, user, { ...linked, resolved: "/dev/pdf" })).toBe("/dev/pdf");
    const copied = lockEntry("pdf", { copied: true, alias: "documents" });
    expect(lockedFolder(places, project, copied)).toBe("/work/p/.metier/skills/pdf");
    expect(placedFolder(project, { path: ".claude/skills/pdf" })).toBe("/work/p/.claude/skills/pdf");
    expect(placedFolder(user, { path: "/home/me/.claude/skills/pdf" })).toBe("/home/me/.claude/skills/pdf");
  });

  test("may be removed on a project's word only where no link leads out of the project", () => {
    const root = temporaryFolder();
    const outside = temporaryFolder();
    const lock = projectLockFile(root);
    mkdirSync(join(root, ".claude"));
    symlinkSync(outside, join(root, ".claude/skills"));
    symlinkSync(outside, join(root, ".claude/linked"));
    expect(isWithinOwner(lock, join(root, ".claude/skills/pdf"))).toBe(false);
    expect(isWithinOwner(lock, join(root, ".claude/linked"))).toBe(true);
    symlinkSync(join(outside, "missing"), join(root, ".claude/nowhere"));
    expect(isWithinOwner(lock, join(root, ".claude/nowhere/pdf"))).toBe(false);
    expect(isWithinOwner(lock, join(root, ".agents/skills/pdf"))).toBe(true);
    expect(isWithinOwner({ ...lock, owner: "user" }, outside)).toBe(true);
  });
});

describe("several processes", () => {
  const url = (path: string) => JSON.stringify(new URL(`../../src/lock/${path}`, import.meta.url).href);

  /** Adds ten skills, one after the other; without end where `count` is missing. */
  function add(lock: LockFile, prefix: string, count?: number): ChildProcess {
    const program = `
      const { changeLock } = await import(${url("lock-store.ts")});
      const { withEntry } = await import(${url("lock.ts")});
      const entry = ${JSON.stringify(lockEntry("pdf"))};
      for (let i = 0; i < ${count ?? "Infinity"}; i++) {
        changeLock(${JSON.stringify(lock)}, (before) => withEntry(before, { ...entry, alias: "${prefix}-" + i % 50 }));
        if (i === 0) process.stdout.write("going");
      }`;
    const options = ["--no-warnings", "--input-type=module", "-e", program];
    return spawn(process.execPath, options, { stdio: ["ignore", "pipe", "inherit"] });
  }

  test("change one lock at once and lose nothing", async () => {
    const lock = projectLockFile(temporaryFolder());
    const children = ["a", "b", "c", "d"].map((prefix) => add(lock, prefix, 10));
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
    expect(codes).toEqual([0, 0, 0, 0]);
    const outcome = readLock(lock);
    expect(outcome.ok && outcome.value.skills).toHaveLength(40);
  });

  test("killed in the middle leave a lock that is read and can be changed", async () => {
    const lock = projectLockFile(temporaryFolder());
    for (let round = 0; round < 4; round++) {
      const child = add(lock, "x");
      if (child.stdout) await once(child.stdout, "data");
      child.kill("SIGKILL");
      await once(child, "exit");
      expect(readLock(lock).ok).toBe(true);
    }
    const left = makeOwnedName({ prefix: ".metier.lock.", suffix: ".tmp" }).replace(
      `${process.pid}`,
      "4194304999",
    );
    writeFileSync(join(dirname(lock.path), left), "half");
    record(lock, lockEntry("after"));
    expect(readdirSync(dirname(lock.path))).toEqual(["metier.lock"]);
    const outcome = readLock(lock);
    expect(outcome.ok && findEntry(outcome.value, "after")).toEqual(lockEntry("after"));
  });
});
