/** A service that worked in files of one machine moves to a database that many share. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeWithPostgres, newDatabase } from "../../../test/support/postgres.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { TERMINAL_TENANT } from "../src/catch-up.ts";
import { findMoved } from "../src/moved.ts";
import type { ChangeEntry } from "../src/postgres/import-local.ts";
import { importShared, openShared } from "../src/postgres/open-shared.ts";
import { openLocal } from "../src/sqlite/open-local.ts";
import { forAllTenants } from "../src/tenant-scope.ts";
import { required } from "./support/sqlite.ts";

const KEY = "1a".repeat(32);
const OTHER_KEY = "2b".repeat(32);
const keep: ChangeEntry = ({ value }) => value;
const line = { tenant: "acme", actor: "k", action: "run.started", subject: "waits" };

/** A waiting run with a child, a question and a work folder; an ended one; a terminal's; a secret; two lines. */
async function fillLocal(folder: string): Promise<string> {
  const local = required(await openLocal({ folder, environment: { METIER_MASTER_KEY: KEY } }));
  const { journal, records, snapshots, keys } = local;
  const order = { text: "a \u0000 and \u0001 in it", list: [1, null, "ß"] };
  await journal.create({ id: "waits", tenant: "acme", userId: "ada\u0000", skill: "s", order }, line);
  await journal.create({ id: "ended", tenant: "other", skill: "s", order: {} }, line);
  await journal.create({ id: "mine", tenant: TERMINAL_TENANT, order: {} });
  const work = join(folder, "..", "work");
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, "log.txt"), "step 1\n");
  const snapshot = required(await snapshots.take(work, { tenant: "acme", runId: "waits" }));
  const lease = { rootId: "waits", holder: "h", term: 7 };
  await journal.take(lease);
  await journal.createChild(lease, { id: "child", tenant: "acme", parentId: "waits", order: {} });
  await journal.write(lease, {
    runId: "waits",
    entries: [
      { key: "start", value: {} },
      { key: "result 1\u0000", value: { said: "\u0000" }, snapshot },
    ],
    events: [{ seq: 1, event: { type: "run-started" } }],
    questions: [{ id: "q1", key: "call 2", kind: "approval", body: { tool: "bash" } }],
    status: "waiting",
    activeMs: 12,
  });
  const end = { rootId: "ended", holder: "h", term: 1 };
  await journal.take(end);
  const result = { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 }, cost: 0.5 };
  await journal.write(end, { runId: "ended", status: "completed", result });
  const sealed = (await keys.of("acme")).seal({ tenant: "acme", purpose: "secret/TOKEN" }, "very secret");
  await records.put({ tenant: "acme", kind: "secret", id: "TOKEN" }, { sealed }, 0);
  await local.close();
  return snapshot;
}

async function newPlace(environment: Readonly<Record<string, string>>) {
  const { url, adminUrl } = await newDatabase();
  const objectStore = `file://${temporaryFolder()}/objects`;
  return { databaseUrl: url, adminUrl, objectStore, environment };
}

describeWithPostgres("moving to a database", () => {
  test("brings everything but the terminals' runs: what waited waits on, and secrets and folders can be read", async () => {
    const folder = join(temporaryFolder(), "service");
    const snapshot = await fillLocal(folder);
    const place = await newPlace({ METIER_MASTER_KEY: `${OTHER_KEY},${KEY}` });
    const mark: ChangeEntry = ({ key, value }) => (key === "start" ? { moved: true } : value);
    const counts = required(await importShared(place, folder, mark));
    expect(counts).toMatchObject({ runs: 2, auditLines: 2 });
    expect(counts.blobs).toBeGreaterThan(0);
    const shared = required(await openShared(place));
    onTestFinished(() => shared.close());
    const { journal, records, snapshots, keys } = shared;
    await forAllTenants(async () => {
      expect(await journal.get("waits")).toMatchObject({
        tenant: "acme",
        userId: "ada\u0000",
        status: "queued", // For a worker to find that it waits.
        order: { text: "a \u0000 and \u0001 in it", list: [1, null, "ß"] },
        activeMs: 12,
        lastEvent: 1,
      });
      expect(await journal.get("child")).toMatchObject({ parentId: "waits", rootId: "waits" });
      expect(await journal.get("mine")).toBeUndefined();
      expect(await journal.entries("waits")).toEqual([
        { key: "start", value: { moved: true } },
        { key: "result 1\u0000", value: { said: "\u0000" } },
      ]);
      expect(await journal.lastSnapshot("waits")).toBe(snapshot);
      expect(await journal.question("q1")).toMatchObject({ status: "pending", body: { tool: "bash" } });
      expect((await journal.get("ended"))?.result).toMatchObject({ cost: 0.5 });
      const day = { by: "day", from: 0, to: Date.now() + 1 } as const;
      expect(await journal.usage({ tenant: "other", ...day })).toMatchObject([{ totalTokens: 7, cost: 0.5 }]);
      // A new engine counts its terms from 1.
      await journal.take({ rootId: "waits", holder: "new", term: 1 });
      const secret = await records.get({ tenant: "acme", kind: "secret", id: "TOKEN" });
      const opened = (await keys.of("acme")).unseal(
        { tenant: "acme", purpose: "secret/TOKEN" },
        String(secret?.body.sealed),
      );
      expect(opened).toMatchObject({ ok: true, value: "very secret" });
      const restored = join(folder, "..", "restored");
      await snapshots.restore(snapshot, restored, { tenant: "acme" });
      expect(existsSync(join(restored, "log.txt"))).toBe(true);
      await records.put({ tenant: "acme", kind: "note", id: "n" }, {}, 0, { ...line, action: "later" });
      const lines = await records.auditLines("acme", 0, 10);
      expect(lines.map(({ action }) => action)).toEqual(["run.started", "run.started", "later"]);
      expect(lines[2]?.previous).toBe(lines[1]?.digest);
    });
    expect(findMoved(folder)?.message).toContain("moved to a database");
    expect(await importShared(place, folder, keep)).toMatchObject({ ok: false });
  });

  test("is refused with another key, into a database that is in use, and where there is nothing", async () => {
    const folder = join(temporaryFolder(), "service");
    await fillLocal(folder);
    const other = await newPlace({ METIER_MASTER_KEY: OTHER_KEY });
    const wrongKey = await importShared(other, folder, keep);
    expect(wrongKey).toMatchObject({
      ok: false,
      refusal: { message: expect.stringMatching(/does not include the key/) },
    });
    const used = await newPlace({ METIER_MASTER_KEY: `${OTHER_KEY},${KEY}` });
    const shared = required(await openShared(used));
    await forAllTenants(() => shared.journal.create({ id: "r", tenant: "default", order: {} }));
    await shared.close();
    const full = await importShared(used, folder, keep);
    expect(full).toMatchObject({
      ok: false,
      refusal: { message: expect.stringMatching(/needs an empty one/) },
    });
    const nothing = await importShared(other, join(temporaryFolder(), "none"), keep);
    expect(nothing).toMatchObject({
      ok: false,
      refusal: { message: expect.stringMatching(/Nothing to import/) },
    });
    expect(findMoved(folder)).toBeUndefined();
  });

  test("is refused while a process works on the folder", async () => {
    const folder = join(temporaryFolder(), "service");
    await fillLocal(folder);
    const local = required(await openLocal({ folder, environment: { METIER_MASTER_KEY: KEY } }));
    onTestFinished(() => local.close());
    const place = await newPlace({ METIER_MASTER_KEY: KEY });
    expect(await importShared(place, folder, keep)).toMatchObject({
      ok: false,
      refusal: { message: expect.stringMatching(/Another process/) },
    });
  });
});
