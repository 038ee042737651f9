/**
 * A database file: readable only by its owner, in WAL mode, with forward-only migrations in a separate table, and
 * statements that are prepared once. A transaction never waits for anything, so those of one process run one after
 * another.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { done, type Refusal, type Result, refused } from "@metier/base/result";
import { openLogFlusher } from "./flush-log.ts";
import { groupChanges } from "./group-commit.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { makePrivateFile } from "./private-file.ts";

export interface Database {
  /** Prepared on first use and kept. */
  statement(sql: string): StatementSync;
  /** Several statements, at once. */
  exec(sql: string): void;
  /** All or nothing, at once. */
  transact<Value>(change: () => Value): Value;
  /**
   * All or nothing, together with concurrent changes; may be called twice. It survives the end of the process. A power
   * cut may lose it, together with everything after it, but never leaves a gap.
   */
  change<Value>(change: () => Value): Promise<Value>;
  /** The same, but resolves when it and everything committed before it survive a power cut. */
  keep<Value>(change: () => Value): Promise<Value>;
  close(): void;
}

/** Tables that belong together in a file and have one version. */
export interface Schema {
  readonly name: string;
  /** Each upgrades the previous version to its own: the first to 1. Only ever added to. */
  readonly migrations: readonly string[];
}

/** Long enough for a reader in another process to create or clear the write-ahead log. */
const BUSY_TIMEOUT_MS = 5_000;

/** A commit that moves the log into the database blocks the process until the disk is done: 16 MB at a time. */
const CHECKPOINT_PAGES = 4_000;

/**
 * Open databases by file. Everyone in this process shares one connection per file: with several, each would have to
 * reread its cache after another one writes.
 */
const opened = new Map<string, { readonly database: Database; users: number }>();

export function openDatabase(file: string, schema: Schema): Result<Database> {
  const path = resolve(file);
  return attempt(file, () => {
    const shared = opened.get(path);
    const database = shared ? done(shared.database) : connect(path);
    if (!database.ok) return database;
    const entry = shared ?? { database: database.value, users: 0 };
    opened.set(path, entry);
    entry.users += 1;
    const close = closeOnce(() => {
      entry.users -= 1;
      if (entry.users > 0) return;
      opened.delete(path);
      entry.database.close();
    });
    return closeUnlessDone({ close }, () => {
      const refusal = migrate(entry.database, file, schema);
      return refusal ? refused(refusal) : done({ ...entry.database, close });
    });
  });
}

function connect(file: string): Result<Database> {
  const sqlite = loadSqlite();
  if (!sqlite.ok) return sqlite;
  makePrivateFile(file);
  const connection = new sqlite.value.DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  return closeUnlessDone(connection, () => {
    // Overwrites deleted data: a deleted user must not remain in free pages of the file.
    connection.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};`,
    );
    return done(wrap(connection, file));
  });
}

function closeOnce(close: () => void): () => void {
  let isOpen = true;
  return () => {
    if (isOpen) close();
    isOpen = false;
  };
}

/** For a process that doesn't own the file: it sees committed data and can't change anything. */
export function openDatabaseReadOnly(file: string, schema: Schema): Result<Database> {
  const sqlite = loadSqlite();
  if (!sqlite.ok) return sqlite;
  if (!existsSync(file)) {
    return refused({
      message: `There are no durable runs: \`${file}\` does not exist.`,
      hint: "Start one with `metier run --durable` or `metier serve`.",
    });
  }
  return attempt(file, () => {
    const options = { readOnly: true, timeout: BUSY_TIMEOUT_MS };
    const connection = new sqlite.value.DatabaseSync(file, options);
    return closeUnlessDone(connection, () => {
      const database = wrap(connection, file);
      const version = readVersion(database.statement, schema);
      if (version === schema.migrations.length) return done(database);
      return refused(version > schema.migrations.length ? tooNew(file, version, schema) : tooOld(file));
    });
  });
}

function wrap(connection: DatabaseSync, file: string): Database {
  const log = openLogFlusher(file);
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = statements.get(sql) ?? connection.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  const transact = <Value>(make: () => Value): Value => {
    statement("BEGIN IMMEDIATE").run();
    try {
      const value = make();
      statement("COMMIT").run();
      return value;
    } catch (error) {
      if (connection.isTransaction) statement("ROLLBACK").run();
      throw error;
    }
  };
  const group = groupChanges(transact, log);
  return {
    statement,
    exec: (sql) => connection.exec(sql),
    transact,
    change: (make) => group.join(make, false),
    keep: (make) => group.join(make, true),
    close() {
      group.settle();
      connection.close();
      log.close();
    },
  };
}

function migrate({ transact, exec, statement }: Database, file: string, schema: Schema): Refusal | undefined {
  return transact(() => {
    exec(
      "CREATE TABLE IF NOT EXISTS metier_migrations (name TEXT NOT NULL, version INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (name, version)) STRICT",
    );
    const version = readVersion(statement, schema);
    if (version > schema.migrations.length) return tooNew(file, version, schema);
    const note = statement("INSERT INTO metier_migrations (name, version, at) VALUES (?, ?, ?)");
    for (const [index, sql] of schema.migrations.entries()) {
      if (index < version) continue;
      exec(sql);
      note.run(schema.name, index + 1, Date.now());
    }
    return undefined;
  });
}

function readVersion(statement: Database["statement"], { name }: Schema): number {
  const table = statement("SELECT 1 FROM sqlite_master WHERE name = 'metier_migrations'").get();
  if (table === undefined) return 0;
  const row = statement("SELECT max(version) AS version FROM metier_migrations WHERE name = ?");
  return Number(row.get(name)?.version ?? 0);
}

function tooNew(file: string, version: number, { name, migrations }: Schema): Refusal {
  return {
    message: `\`${file}\` was written by a newer Metier: its ${name} is at version ${version}, but this one only knows ${migrations.length}.`,
    hint: "Use the newer Metier, or another home folder.",
  };
}

function tooOld(file: string): Refusal {
  return {
    message: `\`${file}\` was written by an older Metier, and reading does not upgrade it.`,
    hint: "Start `metier serve` once to upgrade the file.",
  };
}

/** Damaged, or not a database at all. */
const UNREADABLE: ReadonlySet<number | undefined> = new Set([11, 26]);

/**
 * A file that isn't a database belongs to someone else, and a damaged one is for its owner to restore. Anything else is
 * the host's fault.
 */
function attempt<Value>(file: string, open: () => Result<Value>): Result<Value> {
  try {
    return open();
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return refused(unreadableFile(file));
  }
}

export function isUnreadable(error: unknown): boolean {
  const { errcode } = error as { readonly errcode?: number };
  return UNREADABLE.has(errcode === undefined ? undefined : errcode & 0xff);
}

export function unreadableFile(file: string): Refusal {
  return {
    message: `\`${file}\` is not an SQLite database, or it is damaged.`,
    hint: "Restore it from a backup, or move it away to start over.",
  };
}

function closeUnlessDone<Value>(connection: { close(): void }, open: () => Result<Value>): Result<Value> {
  let opened: Result<Value> | undefined;
  try {
    opened = open();
    return opened;
  } finally {
    if (opened?.ok !== true) connection.close();
  }
}
