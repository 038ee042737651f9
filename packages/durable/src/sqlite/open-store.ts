/** Journal and records in one SQLite file. It belongs to one process (`claimHome`); others open it to read. */
import { done, type Result } from "@metier/base/result";
import type { JournalReading, JournalStore } from "../journal-store.ts";
import type { RecordStore } from "../record-store.ts";
import { readJournal } from "./journal-reading.ts";
import { writeJournal } from "./journal-writing.ts";
import { openDatabase, openDatabaseReadOnly } from "./open-database.ts";
import { answerQuestions } from "./questions.ts";
import { type RecordReading, readRecords, writeRecords } from "./records.ts";
import { STORE_SCHEMA } from "./schema.ts";

interface StoreFile {
  readonly file: string;
}

export interface SqliteStore {
  readonly journal: JournalStore;
  readonly records: RecordStore;
  /** Closes both. */
  close(): void;
}

export interface SqliteReader {
  readonly journal: JournalReading;
  readonly records: RecordReading;
  close(): void;
}

/**
 * Created if it doesn't exist. Refused if Node has no SQLite, a newer Metier wrote the file, or it isn't a database.
 */
export function openSqliteStore({ file }: StoreFile): Result<SqliteStore> {
  const opened = openDatabase(file, STORE_SCHEMA);
  if (!opened.ok) return opened;
  const database = opened.value;
  return done({
    journal: {
      ...readJournal(database),
      ...writeJournal(database),
      ...answerQuestions(database),
      close: async () => database.close(),
    },
    records: { ...readRecords(database), ...writeRecords(database) },
    close: () => database.close(),
  });
}

/** For processes other than the owner: sees committed data, and creates no file. */
export function openSqliteReader({ file }: StoreFile): Result<SqliteReader> {
  const opened = openDatabaseReadOnly(file, STORE_SCHEMA);
  if (!opened.ok) return opened;
  const database = opened.value;
  return done({
    journal: readJournal(database),
    records: readRecords(database),
    close: () => database.close(),
  });
}
