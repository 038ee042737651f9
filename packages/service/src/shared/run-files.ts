/**
 * The files of a run that may have worked on another machine: its folder here while it is in progress here, else the
 * last stored folder, restored into a small cache that ends with the process.
 */
import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { makeOwnedName, removeAbandoned, tryToRemove } from "@metier/base/files";
import { DamagedSnapshotError, type JournalStore, type SnapshotStore } from "@metier/durable";

interface RunFileParts {
  readonly journal: Pick<JournalStore, "get" | "lastSnapshot">;
  readonly snapshots: Pick<SnapshotStore, "restore">;
  /** Created if missing; other processes may use it too. */
  readonly folder: string;
  /** Where a run works on this machine, whether or not the folder exists. */
  localFolder(runId: string): Promise<string>;
  /** Whether this process is working on the run now. */
  isHere(rootId: string): boolean;
  /** How much the cache keeps. Default: 4 GiB in 50 folders. */
  readonly most?: { readonly bytes: number; readonly folders: number } | undefined;
}

interface RunFiles {
  /** `undefined`: there is no such run, or its stored folder can't be read. */
  find(runId: string): Promise<string | undefined>;
  close(): void;
}

const MOST = { bytes: 4 * 1024 ** 3, folders: 50 };

interface CachedFolder {
  readonly path: string;
  readonly bytes: number;
}

export function openRunFiles(parts: RunFileParts): RunFiles {
  const { journal, snapshots, localFolder, isHere, most = MOST } = parts;
  mkdirSync(parts.folder, { recursive: true, mode: 0o700 });
  removeAbandoned(parts.folder); // Left by killed processes.
  const own = join(parts.folder, makeOwnedName());
  mkdirSync(own, { mode: 0o700 });
  const cached = new Map<string, Promise<CachedFolder>>();
  const restore = async (tenant: string, snapshot: string): Promise<CachedFolder> => {
    const path = join(own, makeOwnedName());
    await snapshots.restore(snapshot, path, { tenant });
    return { path, bytes: countBytes(path) };
  };
  const makeRoom = async (): Promise<void> => {
    const kept = await Promise.all([...cached].map(async ([key, folder]) => ({ key, ...(await folder) })));
    let bytes = kept.reduce((sum, folder) => sum + folder.bytes, 0);
    let folders = kept.length;
    // The most recently requested one stays, no matter how large it is.
    for (const { key, path, bytes: freed } of kept.slice(0, -1)) {
      if (bytes <= most.bytes && folders <= most.folders) return;
      cached.delete(key);
      tryToRemove(path);
      bytes -= freed;
      folders -= 1;
    }
  };
  const open = async (tenant: string, snapshot: string): Promise<string> => {
    const key = JSON.stringify([tenant, snapshot]);
    const folder = cached.get(key) ?? restore(tenant, snapshot);
    cached.delete(key);
    cached.set(key, folder);
    folder.catch(() => cached.delete(key)); // The caller gets the error.
    const { path } = await folder;
    await makeRoom();
    return path;
  };
  return {
    async find(runId) {
      const run = await journal.get(runId);
      if (run === undefined) return undefined;
      if (isHere(run.rootId)) return localFolder(run.id);
      const snapshot = await journal.lastSnapshot(run.rootId);
      if (snapshot === undefined) return localFolder(run.id);
      try {
        return await open(run.tenant, snapshot);
      } catch (fault) {
        if (fault instanceof DamagedSnapshotError) return undefined; // The run has no files to return.
        throw fault;
      }
    },
    close: () => tryToRemove(own),
  };
}

function countBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "buffer" })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => {
      const path = Buffer.concat([Buffer.from(parentPath), Buffer.from("/"), name]);
      return sum + (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0);
    }, 0);
}
