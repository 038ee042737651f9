import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  type KeyValues,
  MAX_KEYS,
  MAX_STORE_BYTES,
  MAX_VALUE_BYTES,
  openKeyValues,
  StoreFault,
} from "../../src/sandbox/inside/key-values.ts";

function open(): { folder: string; values: KeyValues; corrupt: string[] } {
  const folder = temporaryFolder();
  const corrupt: string[] = [];
  return { folder, corrupt, values: openKeyValues(folder, (file) => void corrupt.push(file)) };
}

describe("the store of a skill", () => {
  verifies("case 110", "keeps values, replaces, deletes, lists and clears them", () => {
    const { folder, values } = open();
    expect(values.get("missing")).toBeUndefined();
    expect(values.all()).toEqual({});
    const complex = { list: [1, "zwei", null, { deep: true }], text: "ä\n\u2028", empty: {} };
    values.set("b", 1);
    values.set("b", complex);
    values.set("a", false);
    values.set("n", null);
    expect(values.get("b")).toEqual(complex);
    expect(Object.keys(values.all())).toEqual(["a", "b", "n"]);
    expect(openKeyValues(folder).all()).toEqual({ a: false, b: complex, n: null });
    expect([values.delete("a"), values.delete("a"), values.delete("never")]).toEqual([true, false, false]);
    expect(values.delete("n")).toBe(true);
    values.clear();
    expect(values.all()).toEqual({});
    expect(readdirSync(folder)).toEqual([]);
  });

  verifies("case 110", "takes any text as a key, and keeps keys apart", () => {
    const { folder, values } = open();
    const keys = [
      "a",
      "A",
      "a/b",
      "../a",
      "..",
      ".",
      "a.b",
      "%41",
      "ä",
      "a b",
      "-",
      "__proto__",
      "CON",
      "\n",
      "a%",
    ];
    for (const key of keys) values.set(key, key);
    for (const key of keys) expect(values.get(key)).toBe(key);
    expect(new Set(Object.keys(values.all()))).toEqual(new Set(keys));
    const names = readdirSync(folder);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(keys.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9_%A-F-][a-z0-9_%A-F.-]*\.store\.json$/);
  });

  test.each(["", "x".repeat(300), "ä".repeat(100), "\ud800"])("does not take %j as a key", (key) => {
    const { values } = open();
    expect(() => values.set(key, 1)).toThrow(StoreFault);
    expect(() => values.get(key)).toThrow(StoreFault);
  });

  verifies("case 110", "sets aside what cannot be read, says so, and goes on", () => {
    const { folder, values, corrupt } = open();
    values.set("good", 1);
    values.set("bad", 2);
    const file = join(folder, "bad.store.json");
    writeFileSync(file, '{"half":');
    expect(values.get("bad")).toBeUndefined();
    expect(values.all()).toEqual({ good: 1 });
    expect(corrupt).toEqual([file]);
    expect(readFileSync(`${file}.corrupt`, "utf8")).toBe('{"half":');
    values.set("bad", 3);
    expect(values.get("bad")).toBe(3);
    values.clear();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is bounded in the size of a value, in keys and as a whole", () => {
    const { folder, values } = open();
    expect(() => values.set("large", "x".repeat(MAX_VALUE_BYTES))).toThrow(/the limit is 262144 bytes/);
    const most = "x".repeat(MAX_VALUE_BYTES - 10);
    for (let at = 0; at < MAX_STORE_BYTES / MAX_VALUE_BYTES; at++) values.set(`large${at}`, most);
    expect(() => values.set("more", most)).toThrow(/the limit is 4194304 bytes/);
    values.set("large0", 1);
    values.set("more", 1);
    values.clear();
    for (let at = 0; at < MAX_KEYS; at++) writeFileSync(join(folder, `k${at}.store.json`), "1");
    expect(() => values.set("one-more", 1)).toThrow(/the limit is 1000/);
    values.set("k0", 2);
    expect(values.get("k0")).toBe(2);
  });

  test("keeps JSON alone", () => {
    const { values } = open();
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const wrong of [undefined, () => 1, circular, 1n]) {
      expect(() => values.set("a", wrong)).toThrow(StoreFault);
    }
  });

  test("leaves other files alone", () => {
    const { folder, values } = open();
    writeFileSync(join(folder, "notes.json"), "1");
    writeFileSync(join(folder, "UPPER.store.json"), "1");
    expect(values.all()).toEqual({});
    values.set("a", 1);
    values.clear();
    expect(existsSync(join(folder, "notes.json"))).toBe(true);
  });

  test("is never led elsewhere by what a script puts there", () => {
    const { folder, values, corrupt } = open();
    const outside = join(temporaryFolder(), "secret.json");
    writeFileSync(outside, '"secret"');
    symlinkSync(outside, join(folder, "link.store.json"));
    mkdirSync(join(folder, "folder.store.json", "inner"), { recursive: true });
    execFileSync("mkfifo", [join(folder, "pipe.store.json")]);
    expect(values.all()).toEqual({});
    expect(corrupt).toHaveLength(3);
    values.set("link", "own");
    values.set("folder", "own");
    values.set("pipe", "own");
    expect(values.all()).toEqual({ link: "own", folder: "own", pipe: "own" });
    values.clear();
    expect(readFileSync(outside, "utf8")).toBe('"secret"');
  });

  test("shows a whole value to every process while others write", async () => {
    const { folder, values } = open();
    const module = new URL("../../src/sandbox/inside/key-values.ts", import.meta.url).href;
    const code = `const { openKeyValues } = await import(${JSON.stringify(module)});
      const values = openKeyValues(${JSON.stringify(folder)});
      for (let at = 0; at < 200; at++) values.set("shared", { by: process.argv[1], text: String(at).repeat(2000) });
      values.set("own-" + process.argv[1], true);`;
    const writers = ["1", "2", "3"].map((name) =>
      spawn(process.execPath, ["--input-type=module", "--no-warnings", "-e", code, name], {
        stdio: "inherit",
      }),
    );
    const ends = Promise.all(writers.map((writer) => once(writer, "exit")));
    let isOver = false;
    void ends.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const seen = values.get("shared") as { text: string } | undefined;
      if (seen) expect(seen.text).toMatch(/^(\d+)\1{1999}$/);
      await new Promise(setImmediate);
    }
    expect((await ends).map(([code]) => code)).toEqual([0, 0, 0]);
    expect(Object.keys(values.all())).toEqual(["own-1", "own-2", "own-3", "shared"]);
  });
});
