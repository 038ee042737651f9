/** The audit log on disk. */
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
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

test("each entry is a line in a file that only its owner reads", () => {
  const folder = join(temporaryFolder(), "capabilities");
  const file = join(folder, "audit.jsonl");
  const log = openAuditLog({ file });
  log.write(ENTRY);
  log.write({ ...ENTRY, user: 'line\nbreak "quoted"', mutating: true, outcome: "started" });
  expect(readLines(folder, "audit.jsonl").map(({ user }) => user)).toEqual(["alice", 'line\nbreak "quoted"']);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("a full file is put aside, and nothing is lost", () => {
  const folder = temporaryFolder();
  const first = openAuditLog({ file: join(folder, "audit.jsonl"), maxBytes: 500 });
  const second = openAuditLog({ file: join(folder, "audit.jsonl"), maxBytes: 500 });
  for (let number = 0; number < 20; number++) {
    (number % 2 === 0 ? first : second).write({ ...ENTRY, durationMs: number });
  }
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  expect(files).toContain("audit.1.jsonl");
  expect(files).toContain("audit.2.jsonl");
  const seen = files.flatMap((name) => readLines(folder, name).map(({ durationMs }) => durationMs));
  expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, number) => number));
});

test("only so many old files are kept", () => {
  const folder = temporaryFolder();
  const log = openAuditLog({ file: join(folder, "audit.jsonl"), maxBytes: 1 });
  for (let number = 0; number < 30; number++) log.write({ ...ENTRY, durationMs: number });
  expect(readdirSync(folder).filter((name) => name.endsWith(".jsonl"))).toHaveLength(20);
  expect(readLines(folder, "audit.1.jsonl")[0]?.durationMs).toBe(29);
});

test("a log that cannot be written says so", () => {
  const file = join(temporaryFolder(), "audit.jsonl");
  mkdirSync(file);
  expect(() => openAuditLog({ file }).write(ENTRY)).toThrow("EISDIR");
});
