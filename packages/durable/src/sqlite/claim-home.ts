/**
 * One process at a time works on a home's SQLite files. The claim is an exclusive lock on a tiny database that is held open:
 * the system lets go of it when the process ends, however it ends. (`withLock` of base is for changes that take
 * milliseconds, and takes a lock away from whoever holds it for seconds.)
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
/** For the moment in which somebody looks whether it is claimed. */
const LOOK_MS = 200;

/** `folder`: where the state of the service is; made when it is not there. */
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
      message: `Another process already serves or works on \`${folder}\`, and its SQLite files belong to one process at a time.`,
      hint: "Stop that process, or choose another home folder with `--home`. Many processes can share a database: `--database` and `--object-store`.",
    });
  }
}

/** Whether a process works on this folder now. Changes nothing. */
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
