/**
 * A database file: made for its owner alone, in WAL mode, with forward-only migrations in a table of their own, and
 * statements that are prepared once. A transaction never waits for anything, so that those of one process follow one another.
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
  /** All of it or nothing, at once. */
  transact<Value>(change: () => Value): Value;
  /**
   * All of it or nothing, with what others change at the same time; it may be called twice. It outlasts the process; a power
   * cut may take it with all that came after it, never out of the middle.
   */
  change<Value>(change: () => Value): Promise<Value>;
  /** The same, and it outlasts a power cut, as all that was committed before it does: that is waited for. */
  keep<Value>(change: () => Value): Promise<Value>;
  close(): void;
}

/** What belongs together in a file and has a version. */
export interface Schema {
  readonly name: string;
  /** Each brings the version before it to its own: the first to 1. Only ever added to. */
  readonly migrations: readonly string[];
}

/** For the moment in which a reader in another process makes or clears the write-ahead log. */
const BUSY_TIMEOUT_MS = 5_000;

/** A commit that moves the log into the database waits for the disk, and with it the process: 16 MB at a time. */
const CHECKPOINT_PAGES = 4_000;

/**
 * By file: those that are open here. One connection for all who use a file in this process: each that another one writes
 * beside would have to read again what it had in memory.
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
    // What is deleted is overwritten: a user who wants to be gone must not stand in free pages of the file.
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

/** For another process than the owner's: it sees what is committed and can change nothing. */
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
    message: `\`${file}\` was written by a newer Metier: its ${name} has version ${version}, and this one knows ${migrations.length}.`,
    hint: "Use the newer Metier, or another home folder.",
  };
}

function tooOld(file: string): Refusal {
  return {
    message: `\`${file}\` was written by an older Metier, and a reader changes nothing.`,
    hint: "Start `metier serve` once: it brings the file up to date.",
  };
}

/** Damaged inside, and not a database at all. */
const UNREADABLE: ReadonlySet<number | undefined> = new Set([11, 26]);

/** A file that is no database is somebody else's, and a damaged one is for its owner to restore; all else is the host's. */
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
    hint: "Restore it from a copy, or move it away to start anew.",
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
