/** Same key, same result: also at the same time, after a crash, and for another process. */
import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { answerFault, answerWith } from "../src/capability.ts";
import {
  type IdempotencyJournal,
  type JournalClaim,
  type JournaledCall,
  openJournal,
} from "../src/journal.ts";

const CALL: JournaledCall = {
  userId: "alice",
  capability: "desk.mail",
  operation: "send",
  account: "a1",
  key: "k1",
  inputDigest: "sha256:1",
  isIdempotent: false,
  limitMs: 1_000,
};
const UNKNOWN = { ok: false, fault: { code: "capability_outcome_unknown" } };

async function claimFor(journal: IdempotencyJournal, call = CALL): Promise<JournalClaim> {
  const begun = await journal.begin(call);
  if ("ok" in begun) throw new Error(`It is known already: ${JSON.stringify(begun)}`);
  return begun;
}

/** The one record of the folder. */
function findRecord(folder: string): string {
  const [user = ""] = readdirSync(folder);
  const [name = ""] = readdirSync(join(folder, user)).filter((file) => file.endsWith(".json"));
  return join(folder, user, name);
}

/** As a process of that number leaves it when it is killed in the middle of a call. */
function changeOwner(folder: string, owner: object): void {
  const file = findRecord(folder);
  const record = JSON.parse(readFileSync(file, "utf8")) as { readonly owner: object };
  writeFileSync(
    file,
    JSON.stringify({ ...record, owner: { ...record.owner, instance: "another", ...owner } }),
  );
}

const DEAD_PID = 2 ** 22 + 1;

test("the intent is on disk before the call, private, and the result after it", async () => {
  const folder = join(temporaryFolder(), "journal");
  const journal = openJournal({ folder });
  expect(journal.recall(CALL)).toBeUndefined();
  const claim = await claimFor(journal);
  const file = findRecord(folder);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ state: "started", inputDigest: "sha256:1" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  claim.finish(answerWith({ id: "m1" }));
  expect(journal.recall(CALL)).toEqual(answerWith({ id: "m1" }));
  expect(await openJournal({ folder }).begin(CALL)).toEqual(answerWith({ id: "m1" }));
});

test("user, capability, operation, account and key together are one call", async () => {
  const journal = openJournal({ folder: temporaryFolder() });
  (await claimFor(journal)).finish(answerWith({ id: "m1" }));
  const { account: _, ...withoutAccount } = CALL;
  const others: readonly JournaledCall[] = [
    { ...CALL, userId: "bob" },
    { ...CALL, capability: "desk.other" },
    { ...CALL, operation: "file" },
    { ...CALL, account: "a2" },
    { ...CALL, key: "k2" },
    withoutAccount,
  ];
  for (const other of others) expect(journal.recall(other)).toBeUndefined();
});

test("the same key with another input is refused, also while the first is under way", async () => {
  const journal = openJournal({ folder: temporaryFolder() });
  const claim = await claimFor(journal);
  const other = { ...CALL, inputDigest: "sha256:2" };
  const invalid = { ok: false, fault: { code: "capability_invalid_input" } };
  expect(await journal.begin(other)).toMatchObject(invalid);
  claim.finish(answerWith({}));
  expect(journal.recall(other)).toMatchObject(invalid);
});

test("a second call at the same time waits and gets the result of the first", async () => {
  const folder = temporaryFolder();
  const claim = await claimFor(openJournal({ folder }));
  const waiting = [openJournal({ folder }).begin(CALL), openJournal({ folder }).begin(CALL)];
  claim.finish(answerWith({ id: "m1" }));
  expect(await Promise.all(waiting)).toEqual([answerWith({ id: "m1" }), answerWith({ id: "m1" })]);
});

test("whoever waits can give up", async () => {
  const journal = openJournal({ folder: temporaryFolder() });
  const claim = await claimFor(journal);
  const control = new AbortController();
  const waiting = journal.begin(CALL, control.signal);
  control.abort();
  expect(await waiting).toMatchObject({ ok: false, fault: { code: "capability_cancelled" } });
  claim.release();
});

test("a key that was released is free, and a fault that is the result stays it", async () => {
  const journal = openJournal({ folder: temporaryFolder() });
  (await claimFor(journal)).release();
  const claim = await claimFor(journal);
  claim.finish(answerFault("capability_invalid_output", "Not allowed."));
  expect(journal.recall(CALL)).toMatchObject({ ok: false, fault: { code: "capability_invalid_output" } });
});

test("after a call that was cut off an idempotent operation is free, and any other is unknown from then on", async () => {
  const folder = temporaryFolder();
  const journal = openJournal({ folder });
  (await claimFor(journal)).abandon();
  expect(journal.recall(CALL)).toMatchObject(UNKNOWN);
  expect(await journal.begin(CALL)).toMatchObject(UNKNOWN);
  expect(await openJournal({ folder, now: () => Date.now() + 10 ** 12 }).begin(CALL)).toMatchObject(UNKNOWN);
  const again = await claimFor(journal, { ...CALL, isIdempotent: true });
  again.finish(answerWith({ id: "m1" }));
});

test("a process that is gone, or whose number passed to another, has no call under way", async () => {
  const gone = [{ pid: DEAD_PID }, { pid: process.pid, born: "1" }, { host: "elsewhere", until: 1 }];
  for (const owner of gone) {
    const folder = temporaryFolder();
    await claimFor(openJournal({ folder }));
    changeOwner(folder, owner);
    expect(await openJournal({ folder }).begin(CALL), JSON.stringify(owner)).toMatchObject(UNKNOWN);
  }
});

test("a call of a living process, or of another machine, is under way until its time is over", async () => {
  for (const owner of [{}, { host: "elsewhere" }]) {
    const folder = temporaryFolder();
    await claimFor(openJournal({ folder }));
    changeOwner(folder, owner);
    expect(openJournal({ folder }).recall(CALL)).toBeUndefined();
    expect(openJournal({ folder, now: () => Date.now() + 60_000 }).recall(CALL)).toMatchObject(UNKNOWN);
  }
  expect(hostname()).not.toBe("elsewhere");
});

test("two that find the same cut-off call do not both repeat it", async () => {
  const folder = temporaryFolder();
  const call = { ...CALL, isIdempotent: true };
  (await claimFor(openJournal({ folder }), call)).abandon();
  const [first, second] = [openJournal({ folder }), openJournal({ folder })].map((journal) =>
    journal.begin(call),
  );
  const claim = await first;
  if (!claim || "ok" in claim) throw new Error("The first one makes the call.");
  claim.finish(answerWith({ id: "m1" }));
  expect(await second).toEqual(answerWith({ id: "m1" }));
});

test("a damaged record is a call of which nobody knows, for its user alone", async () => {
  const folder = temporaryFolder();
  const journal = openJournal({ folder });
  (await claimFor(journal)).finish(answerWith({}));
  for (const text of [
    "",
    "{",
    "null",
    '{"version":1}',
    '{"version":1,"inputDigest":"sha256:1","state":"done"}',
  ]) {
    writeFileSync(findRecord(folder), text);
    expect(journal.recall(CALL)).toMatchObject(UNKNOWN);
  }
  expect(journal.recall({ ...CALL, userId: "bob" })).toBeUndefined();
});

test("results are forgotten after thirty days; what is unknown stays so", async () => {
  const folder = temporaryFolder();
  const journal = openJournal({ folder });
  (await claimFor(journal)).finish(answerWith({}));
  const unknown = { ...CALL, key: "k2" };
  (await claimFor(journal, unknown)).abandon();
  const now = Date.now() + 31 * 24 * 60 * 60_000;
  const later = openJournal({ folder, now: () => now });
  (await claimFor(later, { ...CALL, key: "k3" })).release();
  expect(later.recall(CALL)).toBeUndefined();
  expect(later.recall(unknown)).toMatchObject(UNKNOWN);
});

test("a result that is younger is kept", async () => {
  const folder = temporaryFolder();
  const journal = openJournal({ folder });
  (await claimFor(journal)).finish(answerWith({}));
  const [now, days] = [Date.now(), 24 * 60 * 60];
  utimesSync(findRecord(folder), now / 1000 - 29 * days, now / 1000 - 29 * days);
  const later = openJournal({ folder, now: () => now + 60 * 60_000 });
  (await claimFor(later, { ...CALL, key: "k3" })).release();
  expect(later.recall(CALL)).toEqual(answerWith({}));
});

test.skipIf(process.getuid?.() === 0)("a journal that cannot be written stops the call", async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o500);
  await expect(openJournal({ folder }).begin(CALL)).rejects.toThrow("EACCES");
  chmodSync(folder, 0o700);
});
