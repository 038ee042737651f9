/** The audit log on disk. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { openAuditLog } from "../src/audit.ts";
import type { AuditEntry } from "../src/capability-broker.ts";

const ENTRY: AuditEntry = {
  at: "2026-01-01T00:00:00.000Z",
  requestId: "cap_0000000000000000",
  action: "invoke",
  user: "alice",
  capability: "desk.mail",
  outcome: "ok",
  durationMs: 1,
};

function readLines(folder: string, name: string): readonly AuditEntry[] {
  const lines = readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as AuditEntry);
}

test("each entry is a line in a file that only its owner reads", async () => {
  const folder = join(temporaryFolder(), "capabilities");
  const file = join(folder, "audit.jsonl");
  const log = openAuditLog({ file });
  await log.write(ENTRY);
  await log.write({ ...ENTRY, user: 'line\nbreak "quoted"', mutating: true, outcome: "started" });
  expect(readLines(folder, "audit.jsonl").map(({ user }) => user)).toEqual(["alice", 'line\nbreak "quoted"']);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("a full file is put aside, and nothing is lost", async () => {
  const folder = temporaryFolder();
  const first = openAuditLog({ file: join(folder, "audit.jsonl"), maxBytes: 500 });
  const second = openAuditLog({ file: join(folder, "audit.jsonl"), maxBytes: 500 });
  for (let number = 0; number < 20; number++) {
    await (number % 2 === 0 ? first : second).write({ ...ENTRY, durationMs: number });
  }
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  expect(files).toContain("audit.1.jsonl");
  expect(files).toContain("audit.2.jsonl");
  const seen = files.flatMap((name) => readLines(folder, name).map(({ durationMs }) => durationMs));
  expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, number) => number));
});

test("only so many old files are kept", async () => {
  const folder = temporaryFolder();
  const log = openAuditLog({ file: join(folder, "audit.jsonl"), maxBytes: 1 });
  for (let number = 0; number < 30; number++) await log.write({ ...ENTRY, durationMs: number });
  expect(readdirSync(folder).filter((name) => name.endsWith(".jsonl"))).toHaveLength(20);
  expect(readLines(folder, "audit.1.jsonl")[0]?.durationMs).toBe(29);
});

test("a log that cannot be written says so", async () => {
  const file = join(temporaryFolder(), "audit.jsonl");
  mkdirSync(file);
  await expect(openAuditLog({ file }).write(ENTRY)).rejects.toThrow("EISDIR");
});

test("lines of a user who is forgotten stay where they are and lead to nobody, in old files too", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "audit.jsonl");
  const log = openAuditLog({ file, maxBytes: 500 });
  const told = {
    chatId: "7",
    account: "ada@example.com",
    inputDigest: "sha256:0",
    idempotencyKey: "letter-1",
  };
  for (let number = 0; number < 10; number++) {
    await log.write({
      ...ENTRY,
      user: number % 2 === 0 ? "" : "é",
      ...(number > 5 && told),
      durationMs: number,
    });
  }
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  expect(names.length).toBeGreaterThan(1);
  const sizes = () => names.map((name) => statSync(join(folder, name)).size);
  const before = sizes();
  const others = () => names.flatMap((name) => readLines(folder, name)).filter(({ user }) => user === "é");
  const kept = others();
  log.forget((user) => user === "");
  expect(sizes()).toEqual(before);
  expect(others()).toEqual(kept);
  const lines = names.flatMap((name) => readLines(folder, name)).filter(({ user }) => user !== "é");
  const { at, requestId, action, capability, outcome } = ENTRY;
  const user = lines[0]?.user;
  expect(user).toMatch(/^p_[0-9a-f]{12}$/);
  expect(lines).toEqual(Array(5).fill({ at, requestId, action, user, capability, outcome }));
});

test("what is no line, such as one that was cut off, is left as it is", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "audit.jsonl");
  const log = openAuditLog({ file });
  await log.write(ENTRY);
  writeFileSync(file, '\nnull\n{"user":"alice", cut off', { flag: "a" });
  log.forget((user) => user === "alice");
  const [line = "", ...others] = readFileSync(file, "utf8").split("\n");
  expect(JSON.parse(line)).toMatchObject({ user: expect.stringMatching(/^p_/) });
  expect(others).toEqual(["", "null", '{"user":"alice", cut off']);
});

test("lines of many calls at once are all there, changes and reads alike", async () => {
  const folder = temporaryFolder();
  const log = openAuditLog({ file: join(folder, "audit.jsonl"), maxBytes: 2000 });
  const numbers = Array.from({ length: 60 }, (_, number) => number);
  await Promise.all(
    numbers.map(async (number) => {
      await log.write({ ...ENTRY, mutating: number % 2 === 0, durationMs: number });
      const there = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
      const seen = there.flatMap((name) => readLines(folder, name).map(({ durationMs }) => durationMs));
      expect(seen).toContain(number);
    }),
  );
  const seen: number[] = [];
  log.each(({ durationMs }) => seen.push(durationMs));
  expect(seen.sort((a, b) => a - b)).toEqual(numbers);
});

test("a log that is removed while it is open begins anew", async () => {
  const folder = join(temporaryFolder(), "capabilities");
  const log = openAuditLog({ file: join(folder, "audit.jsonl") });
  await log.write(ENTRY);
  rmSync(folder, { recursive: true });
  await log.write({ ...ENTRY, user: "bert" });
  expect(readLines(folder, "audit.jsonl").map(({ user }) => user)).toEqual(["bert"]);
});
