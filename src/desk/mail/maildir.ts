/**
 * A maildir, as mail programs know it: a message is a file in `new` or `cur`, its flags stand in its name, and it gets
 * there from `tmp` by one rename. Other folders are beside the inbox, as `.Archive`. Links are not followed.
 */
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { flushFolder } from "../../host/write-atomic.ts";

export const INBOX = "INBOX";

export interface MailFile {
  /** The part of the file's name that never changes. */
  readonly id: string;
  readonly folder: string;
  readonly path: string;
  /** No mail program has seen it: it lies in `new`. */
  readonly isNew: boolean;
  /** Letters, in order: `D`raft, `F`lagged, `P`assed on, `R`eplied, `S`een, `T`rashed. */
  readonly flags: string;
  /** Milliseconds since 1970, by its name. */
  readonly deliveredAt: number;
}

/** Without a leading dot, so that `.` before it makes one harmless part of a path. */
const FOLDER = /^[^./\\\p{Cc}][^/\\\p{Cc}]{0,99}$/u;
const FILE = /^([^.:/\p{Cc}][^:/\p{Cc}]{0,200})(?::2,([A-Za-z]{0,26}))?$/u;
const PARTS = ["cur", "new"] as const;
const MAX_FOLDERS = 1_000;
const ABANDONED_AFTER_MS = 36 * 3_600_000;

let delivered = 0;

export function isFolderName(folder: string): boolean {
  return FOLDER.test(folder);
}

function placeOf(root: string, folder: string): string {
  return folder.toUpperCase() === INBOX ? root : join(root, `.${folder}`);
}

/** The inbox first, then the others by name. */
export function listFolders(root: string): readonly string[] {
  const others = listNames(root)
    .filter((name) => name.startsWith(".") && isFolderName(name.slice(1)))
    .filter((name) => isFolder(join(root, name)) && PARTS.some((part) => isFolder(join(root, name, part))));
  return [INBOX, ...others.map((name) => name.slice(1)).sort()].slice(0, MAX_FOLDERS);
}

/** Newest first. */
export function listMail(root: string, folder: string): readonly MailFile[] {
  const place = placeOf(root, folder);
  const byId = new Map<string, MailFile>();
  for (const part of PARTS) {
    const path = join(place, part);
    if (!isFolder(path)) continue;
    for (const name of listNames(path)) {
      const mail = readName(name, path, folder, part === "new");
      if (mail && !byId.has(mail.id)) byId.set(mail.id, mail);
    }
  }
  return [...byId.values()].sort((a, b) => b.deliveredAt - a.deliveredAt || (a.id < b.id ? 1 : -1));
}

function readName(name: string, path: string, folder: string, isNew: boolean): MailFile | undefined {
  const [, id, flags = ""] = FILE.exec(name) ?? [];
  if (id === undefined) return undefined;
  const seconds = Number(/^\d{1,10}(?=\.)/.exec(id)?.[0] ?? 0);
  return { id, folder, path: join(path, name), isNew, flags, deliveredAt: seconds * 1000 };
}

/** Wherever it lies: another program may have moved it. */
export function findMail(root: string, isWanted: (id: string) => boolean): MailFile | undefined {
  for (const folder of listFolders(root)) {
    const found = listMail(root, folder).find(({ id }) => isWanted(id));
    if (found) return found;
  }
  return undefined;
}

/** To a folder and with flags, in one step. `undefined`: another program was faster, and it no longer lies there. */
export function moveMail(root: string, mail: MailFile, folder: string, flags: string): MailFile | undefined {
  const letters = [...new Set(flags)].sort().join("");
  const place = makeFolder(root, folder);
  const path = join(place, "cur", `${mail.id}:2,${letters}`);
  if (path !== mail.path) {
    try {
      renameSync(mail.path, path);
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw fault;
    }
    flushFolder(join(place, "cur"));
  }
  return { ...mail, folder, path, isNew: false, flags: letters };
}

/** `mark` becomes part of the name, so that the message can be found by it. */
export function deliverMail(root: string, folder: string, content: string, mark: string): MailFile {
  const place = makeFolder(root, folder);
  removeAbandoned(join(place, "tmp"));
  const now = Date.now();
  const host = hostname().replace(/[^A-Za-z0-9.-]+/g, "-") || "localhost";
  const id = `${Math.floor(now / 1000)}.M${now % 1000}P${process.pid}Q${delivered++}${mark}.${host}`;
  const temporary = join(place, "tmp", id);
  const path = join(place, "cur", `${id}:2,S`);
  try {
    writeNew(temporary, content);
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  flushFolder(join(place, "cur"));
  return { id, folder, path, isNew: false, flags: "S", deliveredAt: Math.floor(now / 1000) * 1000 };
}

function writeNew(file: string, content: string): void {
  const descriptor = openSync(file, "wx", 0o600);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function makeFolder(root: string, folder: string): string {
  const place = placeOf(root, folder);
  for (const part of ["cur", "new", "tmp"]) mkdirSync(join(place, part), { recursive: true, mode: 0o700 });
  return place;
}

/** What a writer that was killed left behind, after the time that the maildir rules give it. */
function removeAbandoned(folder: string): void {
  for (const name of listNames(folder)) {
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (stats?.isFile() && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS) rmSync(join(folder, name));
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw fault;
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
