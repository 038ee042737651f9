import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { metierPlaces, type Places } from "@metier/base/places";
import { describe, expect, test } from "vitest";
import { digestOf, lockEntry, record } from "../../../../test/support/locks.ts";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { skill } from "../../../../test/support/world.ts";
import { nameInStore, projectLockFile, storeFolder, userLockFile } from "../../src/lock/lock.ts";
import { collectGarbage, GARBAGE_AGE_MS, readLock } from "../../src/lock/lock-store.ts";
import { findDifference, knownLocks, placeInStore, rememberLock } from "../../src/lock/store.ts";

const FILES = { "SKILL.md": skill("pdf"), "scripts/run.sh": "#!/bin/sh\n", "a b/c.txt": "c" };

function makePlaces(): Places {
  return metierPlaces(join(temporaryFolder(), "with a space"));
}

/** A fetched folder in the quarantine. */
function fetched(places: Places, files: Readonly<Record<string, string>> = FILES): string {
  const folder = join(places.quarantine, `${Math.random()}`.slice(2));
  writeTree(folder, files);
  return folder;
}

function place(places: Places, folder: string, digest: string = digestOf(folder)) {
  return placeInStore(places, folder, { name: "pdf", digest, lock: userLockFile(places) });
}

/** Folders of the store that are neither a lock nor half-way. */
function stored({ store }: Places): readonly string[] {
  return readdirSync(store).filter((name) => !name.startsWith("."));
}

describe("placing", () => {
  test("moves the folder in whole, by name and digest, with its executable bits", () => {
    const places = makePlaces();
    const folder = fetched(places);
    chmodSync(join(folder, "scripts/run.sh"), 0o555);
    chmodSync(join(folder, "SKILL.md"), 0o444);
    chmodSync(join(folder, "scripts"), 0o555);
    const digest = digestOf(folder);
    const outcome = place(places, folder, digest);
    const target = join(places.store, `pdf@${digest.slice(7, 23)}`);
    expect(outcome).toEqual({ ok: true, value: { folder: target } });
    expect(existsSync(folder)).toBe(false);
    expect(digestOf(target)).toBe(digest);
    expect(statSync(join(target, "scripts/run.sh")).mode & 0o777).toBe(0o555);
    expect(statSync(places.store).mode & 0o777).toBe(0o700);
    expect(stored(places)).toEqual([basename(target)]);
    chmodSync(join(target, "scripts"), 0o755);
  });

  test("of what is there already leaves it as it is", () => {
    const places = makePlaces();
    const first = place(places, fetched(places));
    if (!first.ok) throw new Error(first.refusal.message);
    const { ino } = statSync(join(first.value.folder, "SKILL.md"));
    const second = fetched(places);
    expect(place(places, second)).toEqual(first);
    expect(statSync(join(first.value.folder, "SKILL.md")).ino).toBe(ino);
    expect(existsSync(second)).toBe(false);
  });

  test("repairs a folder that is not what it is called, and keeps that aside until the garbage is collected", () => {
    const places = makePlaces();
    const first = place(places, fetched(places));
    if (!first.ok) throw new Error(first.refusal.message);
    writeFileSync(join(first.value.folder, "SKILL.md"), "changed by someone");
    const second = place(places, fetched(places));
    if (!second.ok || !second.value.aside) throw new Error("Nothing was put aside.");
    expect(second.value.folder).toBe(first.value.folder);
    expect(readFileSync(join(second.value.folder, "SKILL.md"), "utf8")).toBe(FILES["SKILL.md"]);
    expect(readFileSync(join(second.value.aside, "SKILL.md"), "utf8")).toBe("changed by someone");
    expect(stored(places)).toHaveLength(1);
    record(userLockFile(places), lockEntry("pdf", { digest: digestOf(second.value.folder) }));
    collectGarbage(places, [], 0);
    expect(existsSync(second.value.aside)).toBe(false);
    expect(existsSync(second.value.folder)).toBe(true);
  });

  test.each(["a file", "a link to elsewhere"])("puts %s aside that took the folder's name", (what) => {
    const places = makePlaces();
    const folder = fetched(places);
    const target = storeFolder(places, { name: "pdf", digest: digestOf(folder) });
    mkdirSync(places.store, { recursive: true });
    const elsewhere = temporaryFolder();
    if (what === "a file") writeFileSync(target, "");
    else symlinkSync(elsewhere, target);
    expect(place(places, folder)).toMatchObject({ ok: true, value: { folder: target } });
    expect(statSync(join(target, "SKILL.md")).isFile()).toBe(true);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test("refuses content that is not what it was said to be, and leaves nothing", () => {
    const places = makePlaces();
    const digest = `sha256:${"1".repeat(64)}`;
    const outcome = place(places, fetched(places), digest);
    expect(outcome).toMatchObject({ ok: false, refusal: { code: "lock.changed-content" } });
    expect(!outcome.ok && outcome.refusal.message).toContain(digest);
    expect(readdirSync(places.store)).toEqual([]);
  });

  test("of a name that fills a file name on its own stays within its bounds", () => {
    const places = makePlaces();
    const name = "\u{20000}".repeat(64);
    const folder = storeFolder(places, { name, digest: `sha256:${"a".repeat(64)}` });
    expect(Buffer.byteLength(basename(folder))).toBeLessThan(255);
    expect(nameInStore("pdf@0123456789abcdef")).toBe("pdf");
    expect(nameInStore("pdf@home")).toBeUndefined();
  });
});

describe("garbage", () => {
  const old = new Date(Date.now() - 2 * GARBAGE_AGE_MS);

  /** The store's age is that of a folder's last change, which a test cannot set back; so it asks for no age. */
  test("is what no lock records: not the previous version, nor what another project uses", () => {
    const places = makePlaces();
    const digests = ["now", "before", "project", "nobody"].map((text) => {
      const outcome = place(places, fetched(places, { "SKILL.md": skill("pdf", "", text) }));
      if (!outcome.ok) throw new Error(outcome.refusal.message);
      return digestOf(outcome.value.folder);
    });
    const [now = "", before = "", ofProject = "", nobodys = ""] = digests;
    const project = projectLockFile(temporaryFolder());
    record(
      userLockFile(places),
      lockEntry("pdf", { digest: now, previous: { digest: before, resolved: "x" } }),
    );
    record(project, lockEntry("pdf", { digest: ofProject }));
    rememberLock(places, project);
    expect(collectGarbage(places, [], GARBAGE_AGE_MS).removed).toEqual([]);
    expect(collectGarbage(places, [], 0)).toEqual({
      removed: [storeFolder(places, { name: "pdf", digest: nobodys })],
      diagnostics: [],
    });
    expect(stored(places)).toHaveLength(3);
    expect(knownLocks(places)).toEqual([userLockFile(places), project]);

    rmSync(project.path);
    expect(collectGarbage(places, [], 0).removed).toEqual([
      storeFolder(places, { name: "pdf", digest: ofProject }),
    ]);
    expect(knownLocks(places)).toEqual([userLockFile(places)]);
  });

  test("is not collected while a lock cannot be read", () => {
    const places = makePlaces();
    place(places, fetched(places));
    writeFileSync(places.lockFile, "<<<<<<< ours\n");
    expect(collectGarbage(places, [], 0)).toMatchObject({
      removed: [],
      diagnostics: [{ code: "lock.unusable" }],
    });
    expect(stored(places)).toHaveLength(1);
  });

  test("is also what was left half-way; a folder that was just placed again is none", () => {
    const places = makePlaces();
    const outcome = place(places, fetched(places));
    if (!outcome.ok) throw new Error(outcome.refusal.message);
    const half = join(places.store, ".incoming-x");
    mkdirSync(join(half, "closed"), { recursive: true, mode: 0o700 });
    chmodSync(join(half, "closed"), 0);
    utimesSync(outcome.value.folder, old, old);
    place(places, fetched(places));
    expect(statSync(outcome.value.folder).mtimeMs).toBeGreaterThan(old.getTime() + GARBAGE_AGE_MS);
    collectGarbage(places, [], 0);
    expect(existsSync(half)).toBe(false);
    expect(collectGarbage(makePlaces())).toEqual({ removed: [], diagnostics: [] });
  });
});

describe("several processes", () => {
  const url = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
  const imports = `
    import { cpSync, mkdirSync } from "node:fs";
    const { metierPlaces } = await import(${url("../../base/src/places.ts")});
    const { placeInStore } = await import(${url("lock/store.ts")});
    const { collectGarbage } = await import(${url("lock/lock-store.ts")});
    const { userLockFile } = await import(${url("lock/lock.ts")});
    const { changeLock } = await import(${url("lock/lock-store.ts")});
    const { withEntry } = await import(${url("lock/lock.ts")});
    const [home, original, digest, entry] = process.argv.slice(1);
    const places = metierPlaces(home);
    const lock = userLockFile(places);
    mkdirSync(places.quarantine, { recursive: true });
    let count = 0;
    function install(name) {
      const folder = places.quarantine + "/" + process.pid + "-" + count++;
      cpSync(original, folder, { recursive: true });
      const outcome = placeInStore(places, folder, { name: "pdf", digest, lock });
      if (!outcome.ok) throw new Error(outcome.refusal.message);
      changeLock(lock, (before) => withEntry(before, { ...JSON.parse(entry), alias: name }));
    }`;

  function start(places: Places, original: string, program: string): ChildProcess {
    const digest = digestOf(original);
    const code = ["--no-warnings", "--input-type=module", "-e", imports + program];
    const values = [places.home, original, digest, JSON.stringify(lockEntry("pdf", { digest }))];
    return spawn(process.execPath, [...code, ...values], { stdio: ["ignore", "pipe", "inherit"] });
  }

  test("place the same skill at once, while others collect garbage, and all of them succeed", async () => {
    const places = makePlaces();
    const original = fetched(places);
    const children = [0, 1, 2].map((child) =>
      start(
        places,
        original,
        `for (let i = 0; i < 10; i++) { install("s-${child}-" + i); collectGarbage(places); }`,
      ),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
    expect(codes).toEqual([0, 0, 0]);
    expect(stored(places)).toHaveLength(1);
    expect(readFileSync(places.lockFile, "utf8").match(/^\[skills\./gm)).toHaveLength(30);
    expect(readdirSync(places.store).filter((name) => /^\.(?:incoming|aside|trash)/.test(name))).toEqual([]);
  });

  test("killed at any moment leave the folder whole or absent, and a lock that is read", async () => {
    const places = makePlaces();
    const original = fetched(places);
    const digest = digestOf(original);
    const target = storeFolder(places, { name: "pdf", digest });
    for (let round = 0; round < 6; round++) {
      const child = start(
        places,
        original,
        `const { renameSync } = await import("node:fs");
         for (;;) {
           install("s");
           process.stdout.write(".");
           renameSync(${JSON.stringify(target)}, places.quarantine + "/old-" + process.pid + count);
         }`,
      );
      if (child.stdout) await once(child.stdout, "data");
      await pause(round * 3);
      child.kill("SIGKILL");
      await once(child, "exit");
      if (existsSync(target)) expect(findDifference(target, digest)).toBeUndefined();
      expect(readLock(userLockFile(places))).toMatchObject({ ok: true, value: { skills: [{ alias: "s" }] } });
    }
    expect(place(places, fetched(places))).toEqual({ ok: true, value: { folder: target } });
    expect(findDifference(target, digest)).toBeUndefined();
  });
});
