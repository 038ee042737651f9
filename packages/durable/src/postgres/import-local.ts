/**
 * Moves everything of a service from one machine's files to a shared database: runs with their journals and questions,
 * records, the audit log, and work folders. Nobody uses the files in the meantime, and no service starts on them
 * afterwards, so each run is in one place. Terminal runs stay with their terminals.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { mapBounded } from "@metier/base/turns";
import type { ReservedSql } from "postgres";
import { TERMINAL_TENANT } from "../catch-up.ts";
import type { JournalEntry } from "../journal-store.ts";
import type { MasterKey } from "../keys/master-key.ts";
import { findMoved, markAsMoved } from "../moved.ts";
import { parseCell } from "../rows.ts";
import type { BlobStore } from "../snapshot-store.ts";
import { openFolderBlobs } from "../snapshots/folder-blobs.ts";
import { claimHome } from "../sqlite/claim-home.ts";
import { type Database, openDatabaseReadOnly } from "../sqlite/open-database.ts";
import type { Row } from "../sqlite/rows.ts";
import { STORE_SCHEMA } from "../sqlite/schema.ts";
import { ALL_TENANTS } from "../tenant-scope.ts";
import { checkKeyOf } from "./import-key.ts";
import {
  AUDIT_HEADS,
  AUDIT_TABLE,
  type CopiedTable,
  RECORD_TABLE,
  RUN_TABLES,
  writeRows,
} from "./import-rows.ts";
import { openPool, type Pool } from "./open-pool.ts";

interface ImportPlaces {
  /** The service's folder on this machine. */
  readonly folder: string;
  /** For the role that services use. Its schema is up to date. */
  readonly databaseUrl: string;
  readonly blobs: BlobStore;
  readonly master: MasterKey;
  readonly changeEntry: ChangeEntry;
}

/** Adjusts recorded entries of a run that continues elsewhere, if they don't apply there unchanged. */
export type ChangeEntry = (entry: Pick<JournalEntry, "key" | "value">) => Json;

export interface ImportCounts {
  readonly runs: number;
  readonly records: number;
  readonly auditLines: number;
  /** Parts of work folders. */
  readonly blobs: number;
}

/** In the database: an import has started, and may continue. */
const BEGUN = { tenant: "@import", kind: "import", id: "local" } as const;
const RUNS_AT_ONCE = 50;
const ROWS_AT_ONCE = 500;
const BLOBS_AT_ONCE = 8;

/** Refused if a process uses the folder, it has already moved or has no journal, or the database isn't empty. */
export async function importLocal(places: ImportPlaces): Promise<Result<ImportCounts>> {
  const { folder, databaseUrl } = places;
  const file = join(folder, "journal.db");
  const moved = findMoved(folder);
  if (moved !== undefined) return refused({ message: moved.message, hint: "Leave out `--import`." });
  if (!existsSync(file)) {
    return refused({
      message: `Nothing to import: \`${file}\` does not exist.`,
      hint: "Leave out `--import`, or pass the service's home with `--home`.",
    });
  }
  const claim = claimHome(folder);
  if (!claim.ok) return claim;
  const pool = openPool(databaseUrl, { most: 1, hasTransactions: true });
  try {
    const opened = openDatabaseReadOnly(file, STORE_SCHEMA);
    if (!opened.ok) return opened;
    try {
      const counts = await copyAll(opened.value, pool, places);
      if (counts.ok) markAsMoved(folder);
      return counts;
    } finally {
      opened.value.close();
    }
  } finally {
    await pool.end({ timeout: 5 });
    claim.value.release();
  }
}

async function copyAll(from: Database, pool: Pool, places: ImportPlaces): Promise<Result<ImportCounts>> {
  const key = checkKeyOf(from, places.master);
  if (!key.ok) return key;
  const begun = await begin(pool);
  if (!begun.ok) return begun;
  // Blobs first: every run in the database has its work folder.
  const blobs = await copyBlobs(openFolderBlobs(join(places.folder, "snapshots")), places.blobs);
  const runs = await copyRuns(from, pool, places.changeEntry);
  const own = "WHERE tenant NOT IN ('', ?)";
  const records = await copyRows(from, pool, `SELECT * FROM records ${own}`, "position", RECORD_TABLE);
  const auditLines = await copyRows(from, pool, `SELECT * FROM audit ${own}`, "tenant, seq", AUDIT_TABLE);
  await inOne(pool, async (connection) => void (await connection.unsafe(AUDIT_HEADS)));
  await inOne(pool, async (connection) => {
    const { tenant, kind, id } = BEGUN;
    await connection`DELETE FROM metier.records WHERE tenant = ${tenant} AND kind = ${kind} AND id = ${id}`;
  });
  return done({ runs, records, auditLines, blobs });
}

/** The database must be empty, or contain only what an earlier import left. */
async function begin(pool: Pool): Promise<Result<undefined>> {
  return inOne(pool, async (connection) => {
    const { tenant, kind, id } = BEGUN;
    const [found] = await connection`SELECT
      EXISTS (SELECT FROM metier.runs) OR EXISTS (SELECT FROM metier.records WHERE tenant <> ${tenant}) AS is_used,
      EXISTS (SELECT FROM metier.records WHERE tenant = ${tenant} AND kind = ${kind}) AS is_begun`;
    if (found?.is_used === true && found.is_begun !== true) {
      return refused({
        message: "The database already has runs or records, but an import needs an empty one.",
        hint: "Create a new database and pass it with `--database`, or leave out `--import`.",
      });
    }
    const now = Date.now();
    await connection`INSERT INTO metier.records (tenant, kind, id, revision, body, created_at, updated_at)
      VALUES (${tenant}, ${kind}, ${id}, 1, '{}', ${now}, ${now}) ON CONFLICT DO NOTHING`;
    return done(undefined);
  });
}

async function copyBlobs(from: BlobStore, to: BlobStore): Promise<number> {
  const names: string[] = [];
  for await (const { name } of from.entries("")) names.push(name);
  await mapBounded(names, BLOBS_AT_ONCE, async (name) => {
    const bytes = (await to.storedAt(name)) === undefined ? await from.get(name) : undefined;
    if (bytes !== undefined) await to.put(name, bytes);
  });
  return names.length;
}

async function copyRuns(from: Database, pool: Pool, changeEntry: ChangeEntry): Promise<number> {
  const page = from.statement(
    "SELECT id, position FROM runs WHERE parent_id IS NULL AND tenant <> ? AND position > ? ORDER BY position LIMIT ?",
  );
  let after = 0;
  let count = 0;
  for (;;) {
    const roots: readonly Row[] = page.all(TERMINAL_TENANT, after, RUNS_AT_ONCE);
    const last = roots.at(-1);
    if (last === undefined) return count;
    const ids = JSON.stringify(roots.map(({ id }) => id));
    await inOne(pool, async (connection) => {
      for (const table of RUN_TABLES) {
        const rows: readonly Row[] = from.statement(table.select).all(ids);
        const changed = table.name === "entries" ? rows.map((row) => changeRow(row, changeEntry)) : rows;
        await insertRows(connection, changed, table);
      }
    });
    after = Number(last.position);
    count += roots.length;
  }
}

function changeRow(row: Row, changeEntry: ChangeEntry): Row {
  const changed = changeEntry({ key: String(row.key), value: parseCell(row.value) });
  return { ...row, value: JSON.stringify(changed) };
}

async function copyRows(
  from: Database,
  pool: Pool,
  select: string,
  order: string,
  table: CopiedTable,
): Promise<number> {
  const rows: readonly Row[] = from.statement(`${select} ORDER BY ${order}`).all(TERMINAL_TENANT);
  await inOne(pool, (connection) => insertRows(connection, rows, table));
  return rows.length;
}

async function insertRows(connection: ReservedSql, rows: readonly Row[], table: CopiedTable): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const part = rows.slice(start, start + ROWS_AT_ONCE);
    await connection.unsafe(table.insert, [writeRows(part, table)]);
  }
}

/** All or nothing, for all tenants. */
async function inOne<Value>(pool: Pool, work: (connection: ReservedSql) => Promise<Value>): Promise<Value> {
  const connection = await pool.reserve();
  try {
    await connection`BEGIN`;
    await connection`SELECT set_config('metier.tenant', ${ALL_TENANTS}, true)`;
    const value = await work(connection);
    await connection`COMMIT`;
    return value;
  } catch (fault) {
    await connection`ROLLBACK`.catch(() => undefined); // The first fault says more.
    throw fault;
  } finally {
    connection.release();
  }
}
