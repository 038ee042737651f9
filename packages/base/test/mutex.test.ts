import { existsSync, linkSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { withLock } from "../src/turns.ts";

test("the lock stands beside the file while the change runs, and is gone after it", () => {
  const file = join(temporaryFolder(), "new", "file");
  const answer = withLock(file, (isHeld) => {
    expect(readFileSync(`${file}.lock`, "utf8")).toContain(`${process.pid} ${hostname()}`);
    return isHeld();
  });
  expect(answer).toBe(true);
  expect(existsSync(`${file}.lock`)).toBe(false);
});

test("a change that throws releases the lock", () => {
  const file = join(temporaryFolder(), "file");
  expect(() =>
    withLock(file, () => {
      throw new Error("fault");
    }),
  ).toThrow("fault");
  expect(existsSync(`${file}.lock`)).toBe(false);
});

test("a holder that was overtaken knows it and leaves the other's lock alone", () => {
  const file = join(temporaryFolder(), "file");
  const held = withLock(file, (isHeld) => {
    writeFileSync(`${file}.lock`, "another holder");
    return isHeld();
  });
  expect(held).toBe(false);
  expect(readFileSync(`${file}.lock`, "utf8")).toBe("another holder");
});

test("a takeover that died half-way is finished by the next", () => {
  const file = join(temporaryFolder(), "file");
  const lock = `${file}.lock`;
  writeFileSync(lock, "");
  utimesSync(lock, 1_000, 1_000);
  linkSync(lock, `${lock}.abandoned`);
  expect(withLock(file, (isHeld) => isHeld())).toBe(true);
  expect(existsSync(`${lock}.abandoned`)).toBe(false);
});
