/** Files for a mailbox and a calendar: bounded reads that follow no links, and writes that happen once. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** The names in a folder; none if there is no such folder. */
export function listNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The first `most` bytes of a regular file. `undefined` for links, pipes, folders and files that are gone. */
export function readStart(path: string, most: number): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    const bytes = Buffer.alloc(Math.min(stats.size, most));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } catch {
    return undefined; // A link, or another program moved it: either way there is nothing to show.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Writes a whole new file that only its owner can read. `false` if the file already exists. */
export function writeOnce(path: string, content: string): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = join(dirname(path), `.${randomUUID()}`); // Readers skip names that start with a dot.
  try {
    writeFileSync(temporary, content, { mode: 0o600, flush: true });
    linkSync(temporary, path); // Unlike a rename, this never replaces a file.
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}
