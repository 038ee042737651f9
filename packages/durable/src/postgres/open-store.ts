/** Journal and records in a Postgres database that any number of processes and machines share. */
import { done, type Result } from "@metier/base/result";
import type { JournalStore } from "../journal-store.ts";
import type { RecordStore } from "../record-store.ts";
import { checkRole } from "./check-role.ts";
import { openDatabase } from "./database.ts";
import { readJournal } from "./journal-reading.ts";
import { writeJournal } from "./journal-writing.ts";
import { migrate } from "./migrate.ts";
import { answerQuestions } from "./questions.ts";
import { readUrl } from "./read-url.ts";
import { openRecords } from "./records.ts";

interface PostgresPlace {
  /** For the role that services use. */
  readonly url: string;
  /** For the role that owns the tables. If given, it first upgrades the schema. */
  readonly adminUrl?: string | undefined;
  /** The most connections it opens; further requests wait. Default: 10. */
  readonly poolSize?: number | undefined;
  /** How long to wait for an answer before giving up a connection, in milliseconds. Default: 20 seconds. */
  readonly silenceMs?: number | undefined;
}

export interface PostgresStore {
  readonly journal: JournalStore;
  readonly records: RecordStore;
  close(): Promise<void>;
}

const POOL_SIZE = 10;

/** Refused if the server is unreachable, the role may do too much or too little, or the schema has another version. */
export async function openPostgresStore({
  url,
  adminUrl,
  poolSize = POOL_SIZE,
  silenceMs,
}: PostgresPlace): Promise<Result<PostgresStore>> {
  for (const one of [url, adminUrl ?? url]) {
    const read = readUrl(one);
    if (!read.ok) return read;
  }
  if (adminUrl !== undefined) {
    const migrated = await migrate({ url, adminUrl });
    if (!migrated.ok) return migrated;
  }
  const checked = await checkRole(url);
  if (!checked.ok) return checked;
  const database = openDatabase(url, poolSize, silenceMs);
  const { close } = database;
  return done({
    journal: { ...readJournal(database), ...writeJournal(database), ...answerQuestions(database), close },
    records: openRecords(database),
    close,
  });
}
