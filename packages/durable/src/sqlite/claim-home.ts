/**
 * Only one process at a time uses a home's SQLite files. The claim is an exclusive lock on a tiny open database: the
 * system releases it when the process ends, in whatever way. (`withLock` in base is for changes that take milliseconds,
 * and takes a lock away from whoever holds it for seconds.)
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { done, type Result, refused } from "@metier/base/result";
import { loadSqlite } from "./load-sqlite.ts";
import { isUnreadable, unreadableFile } from "./open-database.ts";
import { makePrivateFile } from "./private-file.ts";

interface HomeClaim {
  release(): void;
}

const BUSY = 5;
/** Long enough for another process to check whether it is claimed. */
const LOOK_MS = 200;

/** `folder`: the service's state; created if it doesn't exist. */
export function claimHome(folder: string): Result<HomeClaim> {
  const sqlite = loadSqlite();
  if (!sqlite.ok) return sqlite;
  const file = join(folder, "owner.db");
  makePrivateFile(file);
  const connection = new sqlite.value.DatabaseSync(file, { timeout: LOOK_MS });
  try {
    connection.exec("BEGIN EXCLUSIVE");
    return done({ release: () => connection.close() });
  } catch (error) {
    connection.close();
    if (isUnreadable(error)) return refused(unreadableFile(file));
    if ((error as { readonly errcode?: number }).errcode !== BUSY) throw error;
    return refused({
      message: `Another process is already using \`${folder}\`, and its SQLite files allow only one at a time.`,
      hint: "Stop that process, or choose another home with `--home`. To run many processes, share a database: `--database` and `--object-store`.",
    });
  }
}

/** Whether a process is using this folder now. Changes nothing. */
export function isClaimed(folder: string): boolean {
  const sqlite = loadSqlite();
  const file = join(folder, "owner.db");
  if (!sqlite.ok || !existsSync(file)) return false;
  const connection = new sqlite.value.DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    connection.exec("SELECT 1 FROM sqlite_master");
    return false;
  } catch (error) {
    if ((error as { readonly errcode?: number }).errcode === BUSY) return true;
    throw error;
  } finally {
    connection.close();
  }
}
