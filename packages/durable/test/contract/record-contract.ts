/** What every record store does. */
import { describe, expect, test } from "vitest";
import { sealAuditLine } from "../../src/audit-chain.ts";
import type { NewAuditLine, RecordStore } from "../../src/index.ts";
import type { Stores } from "./opened.ts";
import { openNew } from "./use-stores.ts";

export function describeRecords(stores: Stores): void {
  const open = async (): Promise<RecordStore> => (await openNew(stores)).records;
  const key = { tenant: "acme", kind: "agent", id: "writer" };

  describe(`records on ${stores.name}`, () => {
    test("change only from the revision that the writer has seen", async () => {
      const records = await open();
      expect(await records.put(key, { model: "a" }, 0)).toMatchObject({
        ...key,
        revision: 1,
        body: { model: "a" },
      });
      expect(await records.put(key, { model: "b" }, 0)).toBeUndefined();
      expect(await records.put(key, { model: "b" }, 1)).toMatchObject({ revision: 2 });
      expect(await records.put(key, { model: "c" }, 1)).toBeUndefined();
      expect(await records.put({ ...key, id: "none" }, {}, 3)).toBeUndefined();
      expect(await records.get(key)).toMatchObject({ revision: 2, body: { model: "b" } });
    });

    test("belong to their tenant, unless they are looked up before one is known", async () => {
      const records = await open();
      await records.put(key, { of: "acme" }, 0);
      expect(await records.get({ ...key, tenant: "other" })).toBeUndefined();
      expect(await records.delete({ ...key, tenant: "other" })).toBe(false);
      expect(await records.find("agent", "writer")).toMatchObject({ tenant: "acme" });
      expect(await records.find("key", "writer")).toBeUndefined();
    });

    test("are listed oldest first, page by page", async () => {
      const records = await open();
      for (const id of ["c", "a", "b"]) await records.put({ ...key, id }, {}, 0);
      await records.put({ ...key, tenant: "other", id: "d" }, {}, 0);
      const ids = async (after?: string) =>
        (await records.list({ tenant: "acme", kind: "agent", after, limit: 2 })).map(({ id }) => id);
      expect(await ids()).toEqual(["c", "a"]);
      expect(await ids("a")).toEqual(["b"]);
      expect((await records.listAll("agent")).map(({ id }) => id)).toEqual(["c", "a", "b", "d"]);
    });

    test("are gone once deleted, and can be made anew", async () => {
      const records = await open();
      await records.put(key, {}, 0);
      expect(await records.delete(key)).toBe(true);
      expect(await records.delete(key)).toBe(false);
      expect(await records.get(key)).toBeUndefined();
      expect(await records.put(key, {}, 0)).toMatchObject({ revision: 1 });
    });

    test("of a tenant can all be removed, whatever their kind; its log stays, as does what others have", async () => {
      const records = await open();
      const line: NewAuditLine = { tenant: "acme", actor: "k", action: "agent.created", subject: "writer" };
      await records.put(key, {}, 0, line);
      await records.put({ ...key, kind: "agent-version/writer" }, {}, 0);
      await records.put({ ...key, tenant: "other" }, {}, 0);
      expect(await records.forgetTenant("acme")).toBe(2);
      expect(await records.forgetTenant("acme")).toBe(0);
      expect(await records.get(key)).toBeUndefined();
      expect(await records.get({ ...key, tenant: "other" })).toBeDefined();
      expect(await records.auditLines("acme", 0, 10)).toHaveLength(1);
    });

    test("have an audit log in which each line carries the digest of the one before", async () => {
      const records = await open();
      const line = { tenant: "acme", actor: "key-1", action: "skill.uploaded", subject: "greet" };
      const put = (id: string, more: NewAuditLine) => records.put({ ...key, id }, {}, 0, more);
      await put("a", { ...line, detail: { digest: "sha256:1" } });
      await put("b", { ...line, tenant: "other" });
      await Promise.all([put("c", line), put("d", { ...line, action: "skill.granted" })]);
      const lines = await records.auditLines("acme", 0, 10);
      expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(lines.map(({ previous }) => previous)).toEqual([
        "0".repeat(64),
        ...lines.slice(0, 2).map(({ digest }) => digest),
      ]);
      for (const { digest, ...rest } of lines) expect(sealAuditLine(rest).digest).toBe(digest);
      expect(await records.auditLines("acme", 2, 10)).toEqual(lines.slice(2));
    });

    test("have a line in that log for what is done, and none for what is not", async () => {
      const { records, journal } = await openNew(stores);
      const line = (action: string) => ({ tenant: "acme", actor: "key-1", action, subject: "x" });
      const run = { id: "r1", tenant: "acme", order: {} };
      const lease = { rootId: "r1", holder: "h", term: 1 };
      const approval = { id: "q1", key: "k", kind: "approval", body: {} } as const;
      await records.put(key, {}, 0, line("made"));
      await records.put(key, {}, 0, line("made twice"));
      await records.put(key, {}, 7, line("changed from nowhere"));
      await records.delete(key, line("removed"));
      await records.delete(key, line("removed twice"));
      await journal.create(run, line("started"));
      await journal.create(run, line("started twice"));
      await journal.take(lease);
      await journal.write(lease, { runId: "r1", questions: [approval] });
      await journal.answer("q1", { status: "approved", by: "ada" }, line("approved"));
      await journal.answer("q1", { status: "denied", by: "bob" }, line("denied too late"));
      await journal.cancel("r1", line("cancelled"));
      await journal.cancel("r1", line("cancelled twice"));
      await journal.cancel("none", line("cancelled nothing"));
      const lines = await records.auditLines("acme", 0, 20);
      expect(lines.map(({ action }) => action)).toEqual([
        "made",
        "removed",
        "started",
        "approved",
        "cancelled",
      ]);
    });
  });
}
