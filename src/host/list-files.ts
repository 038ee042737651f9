/**
 * Every file below a folder, whatever it is called: nothing is skipped and no link is followed.
 * Where that cannot be done within bounds it says so instead of giving a part of the list.
 */
import { isUtf8 } from "node:buffer";
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

export interface ListedFile {
  /** Below the folder, with `/` between segments. */
  readonly path: string;
  /** `special`: a FIFO, device or socket. */
  readonly kind: "file" | "link" | "special";
}

export type FileListing =
  /** Sorted by the bytes of the UTF-8 path. */
  | { readonly ok: true; readonly files: readonly ListedFile[] }
  | {
      readonly ok: false;
      readonly fault: "too-many" | "unreadable" | "name-not-utf8";
      /** The folder that could not be listed, or the one the entry stands in; absolute. */
      readonly path: string;
      readonly detail: string;
    };

interface SortableFile extends ListedFile {
  readonly bytes: Buffer;
}

/** Lists `root`, which is a folder itself; `maxEntries` counts folders too. */
export function listFiles(root: string, maxEntries: number): FileListing {
  const files: SortableFile[] = [];
  const pending = [""];
  let entries = 0;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const path = join(root, folder);
    let listed: Dirent<Buffer>[];
    try {
      // Bytes, because a name that is not UTF-8 has no string that leads back to it.
      listed = readdirSync(path, { withFileTypes: true, encoding: "buffer" });
    } catch (error) {
      return { ok: false, fault: "unreadable", path, detail: (error as Error).message };
    }
    entries += listed.length;
    if (entries > maxEntries) {
      return { ok: false, fault: "too-many", path: root, detail: `more than ${maxEntries} entries` };
    }
    for (const entry of listed) {
      if (!isUtf8(entry.name))
        return { ok: false, fault: "name-not-utf8", path, detail: showBytes(entry.name) };
      const below = folder === "" ? entry.name.toString() : `${folder}/${entry.name.toString()}`;
      if (entry.isDirectory()) pending.push(below);
      else files.push({ path: below, kind: fileKind(entry), bytes: Buffer.from(below) });
    }
  }
  files.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  return { ok: true, files: files.map(({ path, kind }) => ({ path, kind })) };
}

function fileKind(entry: Dirent<Buffer>): ListedFile["kind"] {
  return entry.isFile() ? "file" : entry.isSymbolicLink() ? "link" : "special";
}

/** `caf\xe9.md` for a Latin-1 name: readable, and nothing in it can act on a terminal. */
function showBytes(name: Buffer): string {
  return name.toString("latin1").replace(/[^ -~]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}
