/** A database file that only its owner can read. The write-ahead log and its index get the same mode from SQLite. */
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

export function makePrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE });
  closeSync(openSync(file, "a", FILE_MODE));
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, FILE_MODE);
}
