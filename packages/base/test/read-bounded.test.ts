import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { type BoundedRead, readBounded } from "../src/files/read-bounded.ts";

function readBytes(bytes: Buffer | string, maxBytes = 1000): BoundedRead {
  const file = join(temporaryFolder(), "SKILL.md");
  writeFileSync(file, bytes);
  return readBounded(file, maxBytes);
}

test("reads a file with the stamp of what was read", () => {
  const file = join(temporaryFolder(), "SKILL.md");
  writeFileSync(file, "héllo 🎉\n");
  const read = readBounded(file, 100);
  expect(read).toMatchObject({ ok: true, text: "héllo 🎉\n", notUtf8: false, encoding: "utf-8", size: 12 });
  const { ino, mtimeNs, size } = statSync(file, { bigint: true });
  expect(read).toMatchObject({ stats: { ino, mtimeNs, size } });
});

test("an empty file is an empty text", () => {
  expect(readBytes("")).toMatchObject({ ok: true, text: "", size: 0 });
});

test("a file of exactly the limit is read, one byte more is not", () => {
  expect(readBytes("x".repeat(10), 10)).toMatchObject({ ok: true, size: 10 });
  expect(readBytes("x".repeat(11), 10)).toMatchObject({ ok: false, reason: "too-large", size: 11 });
});

test("a text longer than any buffer kept between reads comes whole", () => {
  const text = "0123456789abcdef".repeat(100_000);
  expect(readBytes(text, 2_000_000)).toMatchObject({ ok: true, text, size: 1_600_000 });
});

test("a file of 100 MB is refused by its size, unread", () => {
  const file = join(temporaryFolder(), "SKILL.md");
  writeFileSync(file, "");
  truncateSync(file, 100_000_000);
  const read = readBounded(file, 1_000_000);
  expect(read).toMatchObject({ ok: false, reason: "too-large", size: 100_000_000 });
  expect(read.ok ? "" : read.message).toContain("the limit is 1000000");
});

test("a file that says it has no size is read up to the limit", () => {
  // Files of the kernel have size 0 and content all the same.
  const read = readBounded("/proc/self/status", 100_000);
  if (process.platform === "linux")
    expect(read).toMatchObject({ ok: true, text: expect.stringContaining("Pid:") });
  else expect(read.ok).toBe(false);
});

test("invalid bytes are replaced and flagged", () => {
  expect(readBytes(Buffer.from([0x61, 0xff, 0x62]))).toMatchObject({
    ok: true,
    text: "a\uFFFDb",
    notUtf8: true,
  });
});

test("UTF-16 is decoded by its byte order mark and flagged", () => {
  const little = Buffer.from("\uFEFFname: é", "utf16le");
  expect(readBytes(little)).toMatchObject({ text: "name: é", notUtf8: true, encoding: "utf-16le" });
  expect(readBytes(Buffer.from(little).swap16())).toMatchObject({ text: "name: é", encoding: "utf-16be" });
});

test("a directory, a pipe nobody writes to and a device are not files, and nothing waits for them", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "directory"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  symlinkSync("/dev/zero", join(folder, "device"));
  for (const name of ["directory", "pipe", "device"]) {
    expect(readBounded(join(folder, name), 100)).toMatchObject({ ok: false, reason: "not-a-file" });
  }
});

test("a socket is not a file", async () => {
  const path = join(temporaryFolder(), "socket");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  expect(readBounded(path, 100)).toMatchObject({ ok: false, reason: "not-a-file" });
});

test("what cannot be opened is named with the reason", () => {
  const folder = temporaryFolder();
  symlinkSync("loop", join(folder, "loop"));
  symlinkSync("nowhere", join(folder, "dangling"));
  const message = (name: string) => {
    const read = readBounded(join(folder, name), 100);
    return read.ok ? "" : `${read.reason}: ${read.message}`;
  };
  expect(message("missing")).toMatch(
    /^unreadable: `.*missing` can't be read: it does not exist \(ENOENT\)\.$/,
  );
  expect(message("dangling")).toContain("ENOENT");
  expect(message("loop")).toContain("its links form a loop");
});

test.skipIf(process.getuid?.() === 0)("a file without permission is unreadable", () => {
  const file = join(temporaryFolder(), "SKILL.md");
  writeFileSync(file, "x");
  chmodSync(file, 0);
  expect(readBounded(file, 100)).toMatchObject({
    reason: "unreadable",
    message: expect.stringContaining("EACCES"),
  });
});
