/** What every journal counts: quotas of new runs, runs by how they stand, also once they are taken; which snapshot was the last. */
import { describe, expect, test } from "vitest";
import { sealAuditLine } from "../../src/audit-chain.ts";
import type { JournalStore, NewDurableRun, QuotaFull, RunQuotas } from "../../src/index.ts";
import type { Stores } from "./opened.ts";
import { openNew } from "./use-stores.ts";

function run(id: string, more: Partial<NewDurableRun> = {}): NewDurableRun {
  return { id, tenant: "acme", order: {}, ...more };
}

async function take(journal: JournalStore, rootId: string) {
  const lease = { rootId, holder: `holder of ${rootId}`, term: 1 };
  await journal.take(lease);
  return lease;
}

async function end(journal: JournalStore, rootId: string, totalTokens: number, cost: number): Promise<void> {
  const result = { usage: { totalTokens }, cost };
  await journal.write(await take(journal, rootId), { runId: rootId, status: "completed", result });
}

export function describeCounting(stores: Stores): void {
  const open = async (): Promise<JournalStore> => (await openNew(stores)).journal;

  describe(`counting on ${stores.name}`, () => {
    test("starts so many runs in a minute, and says when there is room again", async () => {
      const journal = await open();
      const quotas: RunQuotas = { tenant: { startsPerMinute: 2 } };
      expect(await journal.create(run("r1"), undefined, quotas)).toBe("created");
      await journal.createChild(await take(journal, "r1"), { ...run("child"), parentId: "r1" });
      await end(journal, "r1", 1, 1);
      expect(await journal.create(run("r2"), undefined, quotas)).toBe("created");
      const full = (await journal.create(run("r3"), undefined, quotas)) as QuotaFull;
      expect(full).toEqual({
        of: "tenant",
        quota: "startsPerMinute",
        used: 2,
        most: 2,
        retryAt: Number((await journal.get("r1"))?.createdAt) + 60_000,
      });
      expect(await journal.get("r3")).toBeUndefined();
      expect(await journal.create(run("r2"), undefined, quotas)).toBe("known");
      expect(await journal.create(run("r3", { tenant: "other" }), undefined, quotas)).toBe("created");
      expect(await journal.create(run("r4"))).toBe("created");
    });

    test("has so many runs that have not ended, for the tenant and for each user", async () => {
      const journal = await open();
      const quotas: RunQuotas = { tenant: { openRuns: 3 }, user: { openRuns: 1 } };
      const create = (id: string, userId?: string) => journal.create(run(id, { userId }), undefined, quotas);
      expect(await create("r1", "ada")).toBe("created");
      expect(await create("r2", "ada")).toEqual({ of: "user", quota: "openRuns", used: 1, most: 1 });
      expect(await create("r2", "bob")).toBe("created");
      expect(await create("r3")).toBe("created");
      expect(await create("r4")).toEqual({ of: "tenant", quota: "openRuns", used: 3, most: 3 });
      await end(journal, "r1", 0, 0);
      expect(await create("r4", "ada")).toBe("created");
    });

    test("spends so many tokens and so much in a day", async () => {
      const journal = await open();
      await journal.create(run("r1", { userId: "ada" }));
      await end(journal, "r1", 100, 0.5);
      const create = (quotas: RunQuotas, userId = "ada") =>
        journal.create(run("r2", { userId }), undefined, quotas);
      const full = (await create({ tenant: { tokensPerDay: 100 } })) as QuotaFull;
      expect(full).toMatchObject({ of: "tenant", quota: "tokensPerDay", used: 100, most: 100 });
      expect(Number(full.retryAt) % 86_400_000).toBe(0);
      expect(Number(full.retryAt)).toBeGreaterThan(Number((await journal.get("r1"))?.createdAt));
      expect(await create({ user: { costPerDay: 0.25 } })).toMatchObject({
        of: "user",
        quota: "costPerDay",
        used: 0.5,
        most: 0.25,
      });
      const room: RunQuotas = { tenant: { tokensPerDay: 101, costPerDay: 0.6 }, user: { tokensPerDay: 1 } };
      expect(await create(room, "bob")).toBe("created");
    });

    test("gives the last place of a quota to one of many", async () => {
      const { journal, records } = await openNew(stores);
      const line = (id: string) => ({ tenant: "acme", actor: "key-1", action: "run.started", subject: id });
      const ids = Array.from({ length: 12 }, (_, index) => `r${index}`);
      const quotas = { tenant: { openRuns: 5 } };
      const outcomes = await Promise.all(ids.map((id) => journal.create(run(id), line(id), quotas)));
      expect(outcomes.filter((outcome) => outcome === "created").length).toBe(5);
      expect((await journal.list({ limit: 20 })).length).toBe(5);
      expect((await records.auditLines("acme", 0, 20)).length).toBe(5);
    });

    test("says how a run stands to whoever takes it: it is worked on from then on, unless it has ended", async () => {
      const journal = await open();
      await journal.create(run("r1"));
      const lease = { rootId: "r1", holder: "one", term: 1 };
      expect(await journal.take(lease)).toMatchObject({ ...run("r1"), status: "running", lastEvent: 0 });
      expect(await journal.get("r1")).toMatchObject({ status: "running" });
      await journal.write(lease, { runId: "r1", status: "waiting", events: [{ seq: 1, event: {} }] });
      const next = { ...lease, holder: "two", term: 2 };
      expect(await journal.take(next)).toMatchObject({ status: "running", lastEvent: 1 });
      await journal.write(next, { runId: "r1", status: "completed", result: { text: "Done." } });
      const last = await journal.take({ ...lease, holder: "three", term: 3 });
      expect(last).toMatchObject({ status: "completed", result: { text: "Done." } });
      expect((await journal.get("r1"))?.updatedAt).toBe(last.updatedAt);
      await expect(journal.take({ ...lease, rootId: "none" })).rejects.toThrow("no run `none`");
    });

    test("counts root runs by how they stand", async () => {
      const journal = await open();
      for (const id of ["r1", "r2", "r3"]) await journal.create(run(id));
      await journal.create(run("x", { tenant: "other" }));
      const lease = await take(journal, "r1");
      await journal.createChild(lease, { ...run("child"), parentId: "r1" });
      await journal.write(lease, { runId: "r1", status: "running" });
      await end(journal, "r2", 0, 0);
      expect(await journal.countByStatus("acme")).toEqual({ running: 1, completed: 1, queued: 1 });
      expect(await journal.countByStatus()).toEqual({ running: 1, completed: 1, queued: 2 });
      expect(await journal.countByStatus("nobody")).toEqual({});
    });

    test("knows the last snapshot of a run and of what it started, and all that are needed", async () => {
      const journal = await open();
      await journal.create(run("r1"));
      const lease = await take(journal, "r1");
      await journal.createChild(lease, { ...run("child"), parentId: "r1" });
      const write = (runId: string, key: string, snapshot?: string) =>
        journal.write(lease, { runId, entries: [{ key, value: 1, snapshot }] });
      expect(await journal.lastSnapshot("r1")).toBeUndefined();
      await write("r1", "a", "first");
      await write("child", "a", "second");
      await write("child", "b", "second");
      await write("r1", "b");
      expect(await journal.lastSnapshot("r1")).toBe("second");
      expect(await journal.lastSnapshot("none")).toBeUndefined();
      expect((await journal.snapshots()).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
        { tenant: "acme", name: "first" },
        { tenant: "acme", name: "second" },
      ]);
    });

    test("keeps every text as it was written: the character 0, halves of characters in values, the order of fields", async () => {
      const { journal, records } = await openNew(stores);
      const odd = 'a\u0000b\u0001c \\u0000 "{}\\" 🦜';
      const value = { z: `${odd}\ud800`, a: [odd, 1e21, -0.5, null], [odd]: { b: 1, a: 2 } };
      const more = { tenant: `acme${odd}`, userId: odd, skill: odd, order: value };
      await journal.create(run(odd, more));
      const lease = { rootId: odd, holder: odd, term: 1 };
      await journal.take(lease);
      await journal.write(lease, {
        runId: odd,
        entries: [{ key: odd, value, snapshot: odd }],
        events: [{ seq: 1, event: value }],
        questions: [{ id: odd, key: odd, kind: "question", body: value }],
        result: odd,
      });
      const line = { tenant: more.tenant, actor: odd, action: odd, subject: odd, detail: value };
      await journal.answer(odd, { status: "answered", by: odd, answer: value }, line);
      await records.put({ tenant: more.tenant, kind: odd, id: odd }, value, 0);
      expect(await journal.get(odd)).toMatchObject({ id: odd, ...more, result: odd });
      expect(JSON.stringify((await journal.get(odd))?.order)).toBe(JSON.stringify(value));
      expect(await journal.entries(odd)).toEqual([{ key: odd, value }]);
      expect(await journal.events(odd, 0, 1)).toEqual([{ seq: 1, event: value }]);
      expect(await journal.lastSnapshot(odd)).toBe(odd);
      expect(await journal.list({ userId: odd, skill: odd, limit: 1 })).toMatchObject([{ id: odd }]);
      const answered = { key: odd, body: value, answer: value, answeredBy: odd };
      expect(await journal.questionFor(odd, odd)).toMatchObject(answered);
      expect(await records.find(odd, odd)).toMatchObject({ id: odd, kind: odd, body: value });
      const [read] = await records.auditLines(more.tenant, 0, 1);
      expect(read && { ...read, digest: "" }).toMatchObject({ ...line, seq: 1 });
      expect(read && sealAuditLine(read).digest).toBe(read?.digest);
    });
  });
}
