/**
 * Writes what a source may contain (`source-limits.ts`): only into an empty folder, every file new, links last, when no file
 * can follow them anymore, and only the executable bit of modes.
 */
import { closeSync, constants, openSync, symlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { showPath } from "@metier/base/files";
import { damaged, limited, RefusedTree } from "./install-fault.ts";
import {
  type FetchedEntry,
  MAX_ENTRIES_PER_FILE,
  SETUID_OR_SETGID,
  type SourceLimits,
  startEntryCheck,
} from "./source-limits.ts";
import { MAKE_HERE, type TreeMaker } from "./tree-maker.ts";

interface TreeFile {
  readonly executable: boolean;
  /** Permission bits, if any. */
  readonly mode?: number;
  /** As declared; the number of bytes must match. */
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Paths are inside the folder, with `/`. Everything throws `RefusedTree` for what is not allowed. */
interface TreeWriter {
  addFolder(path: string): void;
  addFile(path: string, file: TreeFile): Promise<void>;
  /** A file whose content is complete. */
  addBytes(path: string, executable: boolean, bytes: Uint8Array): void;
  addLink(path: string, target: string): void;
  /** Creates the links; returns notes about the tree, without errors. */
  finish(): readonly Diagnostic[];
}

const FILE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** What makes folders and complete files. Everything else is made here, so one on another thread gets only those. */
type Maker = Pick<TreeMaker, "makeFolder" | "writeFile" | "leaveOut">;

export function createTreeWriter(folder: string, limits: SourceLimits, maker: Maker = MAKE_HERE): TreeWriter {
  const check = startEntryCheck(folder, limits);
  const folders = new Set<string>();
  const links: { readonly file: string; readonly target: string }[] = [];
  const remarks: Diagnostic[] = [];

  /** The path of an entry that may be written, in an existing folder. */
  const admit = (entry: FetchedEntry): string => {
    const found = check(entry);
    const wrong = found.find(({ severity }) => severity === "error");
    if (wrong !== undefined) {
      throw new RefusedTree(wrong.code === "tree.limit" ? "source.limited" : "source.unsafe", wrong.message);
    }
    remarks.push(...found);
    const path = entry.path
      .split("/")
      .filter((segment) => segment !== ".")
      .join("/");
    makeFolder(entry.kind === "folder" ? path : parentOf(path));
    if (entry.kind === "link") maker.leaveOut(join(folder, path));
    return join(folder, path);
  };
  /** With those above it. */
  const makeFolder = (path: string): void => {
    if (path === "" || folders.has(path)) return;
    makeFolder(parentOf(path));
    folders.add(path);
    if (folders.size > limits.files * MAX_ENTRIES_PER_FILE) {
      throw limited(`It has more than ${folders.size - 1} folders.`);
    }
    maker.makeFolder(join(folder, path));
  };

  return {
    addFolder: (path) => void admit({ path, kind: "folder", bytes: 0 }),
    async addFile(path, { executable, mode = 0, size, content }) {
      const file = admit({ path, kind: "file", bytes: size });
      if ((mode & SETUID_OR_SETGID) !== 0) {
        const message = `${showPath(path)} has a setuid or setgid bit at its source; the bit was dropped.`;
        remarks.push({ code: "tree.mode-dropped", severity: "warning", path: join(folder, path), message });
      }
      maker.leaveOut(file);
      const written = await writeNew(file, executable, content, size);
      if (written === size) return;
      throw damaged(
        `${showPath(path)} has ${written > size ? "more" : "fewer"} bytes than the ${size} it declares.`,
      );
    },
    addBytes(path, executable, bytes) {
      maker.writeFile(admit({ path, kind: "file", bytes: bytes.length }), bytes, modeOf(executable));
    },
    addLink(path, target) {
      links.push({ file: admit({ path, kind: "link", bytes: 0, target }), target });
    },
    finish() {
      for (const { file, target } of links) symlinkSync(target, file);
      return remarks;
    },
  };
}

/** Empty at the top. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Returns the number of bytes, of which at most `size` are written. */
async function writeNew(
  file: string,
  executable: boolean,
  content: Parameters<typeof writeExactly>[1],
  size: number,
): Promise<number> {
  const descriptor = openSync(file, FILE_FLAGS, modeOf(executable));
  try {
    return await writeExactly(descriptor, content, size);
  } finally {
    closeSync(descriptor);
  }
}

function modeOf(executable: boolean): number {
  return executable ? 0o755 : 0o644;
}

/** Returns the number of bytes; at most `size` are written. */
async function writeExactly(descriptor: number, content: TreeFile["content"], size: number): Promise<number> {
  let written = 0;
  for await (const chunk of content) {
    written += chunk.length;
    if (written > size) break;
    for (let done = 0; done < chunk.length; ) done += writeSync(descriptor, chunk, done);
  }
  return written;
}
