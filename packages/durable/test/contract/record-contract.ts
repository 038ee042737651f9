/** What every record store does. */
import { describe, expect, test } from "vitest";
import { sealAuditLine } from "../../src/audit-chain.ts";
import type { RecordStore } from "../../src/index.ts";
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

    test("have an audit log in which each line carries the digest of the one before", async () => {
      const records = await open();
      const line = { tenant: "acme", actor: "key-1", action: "skill.uploaded", subject: "greet" };
      await records.audit({ ...line, detail: { digest: "sha256:1" } });
      await records.audit({ ...line, tenant: "other" });
      await Promise.all([records.audit(line), records.audit({ ...line, action: "skill.granted" })]);
      const lines = await records.auditLines("acme", 0, 10);
      expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(lines.map(({ previous }) => previous)).toEqual([
        "0".repeat(64),
        ...lines.slice(0, 2).map(({ digest }) => digest),
      ]);
      for (const { digest, ...rest } of lines) expect(sealAuditLine(rest).digest).toBe(digest);
      expect(await records.auditLines("acme", 2, 10)).toEqual(lines.slice(2));
    });
  });
}
