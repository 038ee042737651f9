/**
 * What was written into folders, so that the content of one is known without reading it again. The store reads it when the
 * folder comes in, and refuses anything else: what was looked at here is what is installed.
 */
import { basename, dirname, join, sep } from "node:path";
import { digestBytes } from "@metier/base/digest";
import type { KnownEntry } from "@metier/skills";
import { IDENTITY_LIMITS, type IdentifiedFile } from "@metier/skills/trust";

/** What a folder has. */
export interface WrittenContent {
  /** As its content identity has them. */
  readonly files: readonly IdentifiedFile[];
  /** The content of one of `files`. `undefined`: too much was written to keep it. */
  read(path: string): Buffer | undefined;
}

export interface WrittenFiles {
  addFolder(path: string): void;
  /** The bytes do not change anymore. */
  addFile(path: string, bytes: Uint8Array, executable: boolean): void;
  /** Something else is there: what its folder has is no longer known. */
  leaveOut(path: string): void;
  /** `undefined`: only reading the folder shows that. */
  in(folder: string): WrittenContent | undefined;
  /** The same, only of what is directly in the folder. */
  list(folder: string): readonly KnownEntry[] | undefined;
}

interface WrittenFolder {
  readonly folders: string[];
  readonly files: { readonly path: string; readonly about: Omit<IdentifiedFile, "path"> }[];
}

/** Of what is kept. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Some file systems store other names in another form. */
const KEPT_AS_WRITTEN = /^[ -~]*$/;

type Kind = Omit<KnownEntry, "name">;
const FILE: Kind = { isFile: () => true, isDirectory: () => false, isSymbolicLink: () => false };
const FOLDER: Kind = { ...FILE, isFile: () => false, isDirectory: () => true };

export function rememberWritten(): WrittenFiles {
  const all = new Map<string, WrittenFolder>();
  const kept = new Map<string, Buffer>();
  let keptBytes = 0;
  /** Collects its files; returns how many entries it has, or `Infinity` if that is not known. */
  const collect = (folder: string, root: string, files: IdentifiedFile[]): number => {
    const found = all.get(folder);
    if (found === undefined) return Number.POSITIVE_INFINITY;
    for (const { path, about } of found.files) {
      files.push({ path: path.slice(root.length + 1).replaceAll(sep, "/"), ...about });
    }
    const own = found.folders.length + found.files.length;
    return found.folders.reduce((sum, one) => sum + collect(one, root, files), own);
  };
  return {
    addFolder(path) {
      all.set(path, { folders: [], files: [] });
      all.get(dirname(path))?.folders.push(path);
    },
    addFile(path, bytes, executable) {
      const about = { kind: "file", size: bytes.length, executable, digest: digestBytes(bytes) } as const;
      all.get(dirname(path))?.files.push({ path, about });
      keptBytes += bytes.length;
      if (keptBytes <= MAX_BYTES) kept.set(path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    },
    leaveOut: (path) => void all.delete(dirname(path)),
    in(folder) {
      const files: IdentifiedFile[] = [];
      const entries = collect(folder, folder, files);
      const bytes = files.reduce((sum, { size }) => sum + size, 0);
      const isWithin = entries <= IDENTITY_LIMITS.entries && bytes <= IDENTITY_LIMITS.bytes;
      if (!isWithin || !files.every(({ path }) => KEPT_AS_WRITTEN.test(path))) return undefined;
      files.sort((a, b) => (a.path < b.path ? -1 : 1));
      return { files, read: (path) => kept.get(join(folder, path)) };
    },
    list(folder) {
      const { folders = [], files = [] } = all.get(folder) ?? {};
      const entries = [
        ...folders.map((path) => ({ name: basename(path), ...FOLDER })),
        ...files.map(({ path }) => ({ name: basename(path), ...FILE })),
      ];
      return all.has(folder) && entries.every(({ name }) => KEPT_AS_WRITTEN.test(name)) ? entries : undefined;
    },
  };
}
