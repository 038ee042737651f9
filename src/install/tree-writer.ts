/**
 * Writes an untrusted tree into an empty folder, and nowhere else. What may be in it is decided by `entry-check.ts`
 * before anything is written; every file is new, and links come last of all, when no file can follow them any more.
 * Modes are the writer's own: only the executable bit is taken over, and a bit that would give rights is named.
 */
import { closeSync, constants, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { showPath } from "../host/contained-path.ts";
import { SETUID_OR_SETGID, type SourceEntry, startEntryCheck } from "./entry-check.ts";
import { RefusedTree } from "./refused-tree.ts";
import { MAX_ENTRIES_PER_FILE, type SourceLimits } from "./source-limits.ts";

export interface TreeFile {
  readonly executable: boolean;
  /** Permission bits, where there are any. */
  readonly mode?: number;
  /** As announced; neither more nor fewer bytes are taken. */
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Paths are below the folder, with `/`. Everything throws `RefusedTree` for what may not be. */
export interface TreeWriter {
  addFolder(path: string): void;
  addFile(path: string, file: TreeFile): Promise<void>;
  /** A file whose content is there as a whole. */
  addBytes(path: string, executable: boolean, bytes: Uint8Array): void;
  addLink(path: string, target: string): void;
  /** Makes the links; gives what is worth knowing of the tree, none of it an error. */
  finish(): readonly Diagnostic[];
}

const FILE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

export function createTreeWriter(folder: string, limits: SourceLimits): TreeWriter {
  const check = startEntryCheck(folder, limits);
  const folders = new Set<string>();
  const links: { readonly file: string; readonly target: string }[] = [];
  const remarks: Diagnostic[] = [];

  /** The place of an entry that may be written, in a folder that is there. */
  const admit = (entry: SourceEntry): string => {
    const found = check(entry);
    const wrong = found.find(({ severity }) => severity === "error");
    if (wrong !== undefined) {
      throw new RefusedTree(wrong.code === "tree.limit" ? "source.limited" : "source.unsafe", wrong.message);
    }
    remarks.push(...found);
    const segments = entry.path.split("/").filter((segment) => segment !== ".");
    makeFolders(entry.kind === "folder" ? segments : segments.slice(0, -1));
    return join(folder, ...segments);
  };
  const makeFolders = (segments: readonly string[]): void => {
    for (let length = 1; length <= segments.length; length++) {
      const path = segments.slice(0, length).join("/");
      if (folders.has(path)) continue;
      folders.add(path);
      if (folders.size > limits.files * MAX_ENTRIES_PER_FILE) {
        throw new RefusedTree("source.limited", `It has more than ${folders.size - 1} folders.`);
      }
      mkdirSync(join(folder, path), { mode: 0o755 });
    }
  };

  return {
    addFolder: (path) => void admit({ path, kind: "folder", bytes: 0 }),
    async addFile(path, { executable, mode = 0, size, content }) {
      const file = admit({ path, kind: "file", bytes: size });
      if ((mode & SETUID_OR_SETGID) !== 0) remarks.push(reportDropped(join(folder, path), path));
      const descriptor = openSync(file, FILE_FLAGS, modeOf(executable));
      try {
        const written = await writeExactly(descriptor, content, size);
        if (written === size) return;
        const message = `${showPath(path)} has ${written > size ? "more" : "fewer"} bytes than the ${size} it announces.`;
        throw new RefusedTree("source.damaged", message);
      } finally {
        closeSync(descriptor);
      }
    },
    addBytes(path, executable, bytes) {
      const file = admit({ path, kind: "file", bytes: bytes.length });
      writeFileSync(file, bytes, { flag: "wx", mode: modeOf(executable) });
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

function reportDropped(file: string, path: string): Diagnostic {
  const message = `${showPath(path)} has a setuid or setgid bit at its source; it is not taken over.`;
  return { code: "tree.mode-dropped", severity: "warning", path: file, message };
}

function modeOf(executable: boolean): number {
  return executable ? 0o755 : 0o644;
}

/** How many bytes there are; no more than `size` of them are written. */
async function writeExactly(descriptor: number, content: TreeFile["content"], size: number): Promise<number> {
  let written = 0;
  for await (const chunk of content) {
    written += chunk.length;
    if (written > size) break;
    for (let done = 0; done < chunk.length; ) done += writeSync(descriptor, chunk, done);
  }
  return written;
}
