/** Where the master key comes from, what it gives, and how it is changed. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openMasterKey, rotateMasterKey } from "../src/snapshots.ts";
import { required } from "./support/sqlite.ts";

const SECRET = { tenant: "acme", purpose: "secret" };

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "metier-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "state", "master-key.json");
}

test("a file for its owner alone is made on the first start, and used from then on", () => {
  const file = newFile();
  const key = required(openMasterKey({ environment: {}, file }));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const again = required(openMasterKey({ environment: {}, file }));
  expect(again.newest).toBe(key.newest);
  expect(required(again.unseal(SECRET, key.seal(SECRET, "hé")))).toBe("hé");
});

test("a key of the environment is taken as hexadecimal digits or base64url, and no file is made", () => {
  const bytes = randomBytes(32);
  const file = newFile();
  const [hex, base64url] = (["hex", "base64url"] as const).map((form) =>
    required(openMasterKey({ environment: { METIER_MASTER_KEY: bytes.toString(form) }, file })),
  );
  expect(hex?.newest).toBe(base64url?.newest);
  expect(existsSync(file)).toBe(false);
});

test("what is no key is refused, without saying what it was", () => {
  for (const wrong of ["hunter2hunter2", "0".repeat(63), `${"0".repeat(64)},`]) {
    const opened = openMasterKey({ environment: { METIER_MASTER_KEY: wrong }, file: newFile() });
    expect(opened).toMatchObject({
      ok: false,
      refusal: { message: expect.stringContaining("64 hexadecimal") },
    });
    expect(JSON.stringify(opened)).not.toContain("hunter2");
  }
});

test("a file that others can reach, a link, or a damaged one is not used", () => {
  const file = newFile();
  const open = () => openMasterKey({ environment: {}, file });
  required(open());
  chmodSync(file, 0o644);
  expect(open()).toMatchObject({ ok: false, refusal: { hint: expect.stringContaining("chmod 600") } });
  chmodSync(file, 0o600);
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.slice(0, 40));
  expect(open()).toMatchObject({
    ok: false,
    refusal: { message: expect.stringContaining("not a list of keys") },
  });
  expect(JSON.stringify(open())).not.toContain(text.slice(25, 38));
  rmSync(file);
  symlinkSync("/etc/passwd", file);
  expect(open()).toMatchObject({ ok: false, refusal: { message: expect.stringContaining("link") } });
});

test("a sealed text opens for its tenant and its purpose alone, and only unchanged", () => {
  const key = required(openMasterKey({ environment: {}, file: newFile() }));
  const sealed = key.seal(SECRET, "swordfish");
  expect(sealed).not.toContain("swordfish");
  expect(key.seal(SECRET, "swordfish")).not.toBe(sealed);
  expect(key.unseal({ ...SECRET, tenant: "other" }, sealed).ok).toBe(false);
  expect(key.unseal({ ...SECRET, purpose: "other" }, sealed).ok).toBe(false);
  const middle = sealed.length - 10;
  const other = sealed[middle] === "A" ? "B" : "A";
  for (const changed of [
    "",
    "x",
    `${sealed.slice(0, middle)}${other}${sealed.slice(middle + 1)}`,
    sealed.slice(0, 30),
  ]) {
    expect(key.unseal(SECRET, changed).ok).toBe(false);
  }
  const stranger = required(openMasterKey({ environment: {}, file: newFile() }));
  expect(stranger.unseal(SECRET, sealed)).toMatchObject({
    ok: false,
    refusal: { message: expect.stringContaining("master key") },
  });
});

test("after a rotation old texts still open, new ones are under the new key, and a process that was there learns it", () => {
  const file = newFile();
  const before = required(openMasterKey({ environment: {}, file }));
  const sealed = before.seal(SECRET, "old");
  const after = required(rotateMasterKey({ environment: {}, file }));
  expect(after.newest).not.toBe(before.newest);
  expect(required(after.unseal(SECRET, sealed))).toBe("old");
  expect(required(before.unseal(SECRET, after.seal(SECRET, "new")))).toBe("new");
  expect(required(openMasterKey({ environment: {}, file })).newest).toBe(after.newest);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a key of the environment goes before those of the file, and is rotated where it is", () => {
  const file = newFile();
  const kept = required(openMasterKey({ environment: {}, file }));
  const sealed = kept.seal(SECRET, "from the file");
  const [one, two] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
  const first = required(openMasterKey({ environment: { METIER_MASTER_KEY: one }, file }));
  expect(required(first.unseal(SECRET, sealed))).toBe("from the file");
  const both = required(openMasterKey({ environment: { METIER_MASTER_KEY: `${two},${one}` }, file }));
  expect(required(both.unseal(SECRET, first.seal(SECRET, "one")))).toBe("one");
  expect(both.newest).not.toBe(first.newest);
  const rotated = rotateMasterKey({ environment: { METIER_MASTER_KEY: one }, file });
  expect(rotated).toMatchObject({ ok: false, refusal: { hint: expect.stringContaining("<new>,<old>") } });
});
