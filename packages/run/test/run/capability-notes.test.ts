import { setImmediate } from "node:timers/promises";
import type { AuditEntry } from "@metier/capabilities";
import { expect, test } from "vitest";
import type { CapabilityCall } from "../../src/events/run-event.ts";
import { createCapabilityNotes } from "../../src/run/open-capabilities.ts";

const ENTRY: AuditEntry = {
  at: "2025-01-02T03:04:05.000Z",
  requestId: "cap_0123456789abcdef",
  action: "invoke",
  user: "alice",
  runId: "r1",
  capability: "memo.notes",
  operation: "read",
  account: "acc-1",
  mutating: false,
  inputDigest: "sha256:00",
  outcome: "ok",
  durationMs: 3,
};

function listen(notes: ReturnType<typeof createCapabilityNotes>) {
  const calls: CapabilityCall[] = [];
  const faults: string[] = [];
  notes.listen({ onCall: (call) => void calls.push(call), onFault: (text) => void faults.push(text) });
  return { calls, faults };
}

test("a call is told without who asked and what was asked, whoever listens late", () => {
  const notes = createCapabilityNotes();
  notes.note(ENTRY);
  const { calls } = listen(notes);
  notes.note({ ...ENTRY, outcome: "capability_rate_limited" });
  expect(calls).toEqual(
    ["ok", "capability_rate_limited"].map((outcome) => ({
      capability: "memo.notes",
      operation: "read",
      account: "acc-1",
      mutating: false,
      outcome,
      requestId: "cap_0123456789abcdef",
      durationMs: 3,
    })),
  );
});

test("a change that has only begun, and a sign-in, are no calls", () => {
  const notes = createCapabilityNotes();
  const { calls } = listen(notes);
  const { operation: _, ...signIn } = ENTRY;
  notes.note({ ...ENTRY, mutating: true, outcome: "started" });
  notes.note({ ...signIn, action: "auth-begin" });
  expect(calls).toEqual([]);
  expect(notes.list()).toEqual([]);
});

test("calls are counted by what was asked for, and those that were not performed apart", () => {
  const notes = createCapabilityNotes();
  for (const [operation, outcome] of [
    ["read", "ok"],
    ["add", "capability_mutation_not_confirmed"],
    ["add", "repeat"],
    ["read", "ok"],
  ] as const) {
    notes.note({ ...ENTRY, operation, outcome });
  }
  const { operation: _, ...unknown } = ENTRY;
  notes.note({ ...unknown, capability: "memo.diary", outcome: "capability_access_denied" });
  expect(notes.list()).toEqual([
    { capability: "memo.diary", calls: 1, failed: 1 },
    { capability: "memo.notes", operation: "add", calls: 2, failed: 1 },
    { capability: "memo.notes", operation: "read", calls: 2, failed: 0 },
  ]);
});

test("the end waits for what is under way, and nothing is told after it", async () => {
  const notes = createCapabilityNotes();
  const { calls } = listen(notes);
  const cancelling = setImmediate().then(() => notes.note({ ...ENTRY, outcome: "capability_cancelled" }));
  void notes.follow(cancelling);
  await notes.end();
  expect(calls).toMatchObject([{ outcome: "capability_cancelled" }]);
  notes.note(ENTRY);
  expect(calls).toHaveLength(1);
});

test("the end does not wait for a call that nobody can stop", async () => {
  const notes = createCapabilityNotes();
  void notes.follow(new Promise(() => undefined));
  await notes.end();
  expect(notes.list()).toEqual([]);
});

test("a fault of the host is told to whoever keeps the log", () => {
  const notes = createCapabilityNotes();
  notes.noteFault(new Error("the disk is full"));
  expect(listen(notes).faults).toEqual(["The capability failed on the host: the disk is full"]);
});
