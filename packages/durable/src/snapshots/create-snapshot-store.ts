/** Snapshots of work folders over any blob store: what a folder holds, as encrypted blobs and a manifest that names them. */
import { realpathSync } from "node:fs";
import { done, type Result } from "@metier/base/result";
import { createTurns, mapBounded } from "@metier/base/turns";
import type { NeededSnapshot } from "../journal-store.ts";
import type { MasterKey } from "../keys/master-key.ts";
import type { BlobStore, SnapshotScope, SnapshotStore } from "../snapshot-store.ts";
import { countBytes, refuseFull, type SnapshotLimits } from "./count-bytes.ts";
import { layOutSnapshot } from "./lay-out-snapshot.ts";
import { type KeptFile, readManifest, writeManifest } from "./manifest.ts";
import { type ReadFiles, readFile } from "./read-files.ts";
import { type BlobKind, damagedSnapshot, sealFor } from "./seal-blob.ts";
import { type FolderBounds, walkFolder } from "./walk-folder.ts";

interface SnapshotStoreOptions {
  readonly blobs: BlobStore;
  readonly keys: MasterKey;
  readonly bounds?: FolderBounds;
  readonly limits?: SnapshotLimits | undefined;
}

const BOUNDS: FolderBounds = { maxEntries: 50_000, maxBytes: 4 * 1024 ** 3 };
const MOST_AT_ONCE = 8;
/** Folders of which it is known what was read; of any other, all files are read. */
const MOST_FOLDERS = 200;

export function createSnapshotStore({
  blobs,
  keys,
  bounds = BOUNDS,
  limits = {},
}: SnapshotStoreOptions): SnapshotStore {
  const counting = countBytes(blobs, limits);
  const folders = new Map<string, ReadFiles>();
  const load = async (kind: BlobKind, name: string, scope: SnapshotScope): Promise<Buffer> => {
    const sealed = await blobs.get(name);
    if (sealed === undefined) throw damagedSnapshot(`a part of it is missing (\`${name}\`)`);
    return sealFor(keys, scope.tenant).open(kind, name, sealed);
  };
  const turns = createTurns();
  const collect = async (needed: readonly NeededSnapshot[]): Promise<number> => {
    const reached = new Set<string>();
    for (const { tenant, name } of needed) {
      reached.add(name);
      const { files } = readManifest(await load("manifest", name, { tenant }));
      for (const part of files.flatMap(({ parts }) => parts)) reached.add(part);
    }
    const unused = (await blobs.list("")).filter((name) => !reached.has(name));
    await mapBounded(unused, MOST_AT_ONCE, (name) => blobs.delete(name));
    folders.clear(); // What was read before may have been stored in one of them.
    counting.forget();
    return unused.length;
  };
  const takeNow: SnapshotStore["take"] = async (folder, scope) => {
    const { tenant } = scope;
    const root = realpathSync.native(folder);
    const found = await walkFolder(root, bounds);
    if (!found.ok) return found;
    const sealing = sealFor(keys, tenant);
    const known = recall(folders, JSON.stringify([tenant, root]));
    const counted = await counting.count(scope, sealing.prefixes());
    const reading = { root, blobs: counted, sealing, known };
    const read = await mapBounded(found.value.files, MOST_AT_ONCE, (file) => readFile(reading, file));
    const files = allDone(read);
    if (!files.ok) return files;
    forgetOthers(known, files.value);
    const manifest = writeManifest({ ...found.value, files: files.value });
    const name = sealing.nameOf("manifest", manifest);
    if (!(await blobs.has(name))) await counted.put(name, sealing.seal(name, manifest));
    return done(name);
  };
  return {
    take: (folder, scope) => turns.beside(() => takeNow(folder, scope).catch(refuseFull)),
    collect: (needed) => turns.alone(() => collect(needed)),
    async restore(name, folder, scope) {
      const manifest = readManifest(await load("manifest", name, scope));
      await layOutSnapshot(folder, manifest, (part) => load("part", part, scope));
    },
  };
}

/** The one that was used longest ago makes room. */
function recall(folders: Map<string, ReadFiles>, key: string): ReadFiles {
  const known: ReadFiles = folders.get(key) ?? new Map();
  folders.delete(key);
  folders.set(key, known);
  const [oldest] = folders.keys();
  if (folders.size > MOST_FOLDERS && oldest !== undefined) folders.delete(oldest);
  return known;
}

function forgetOthers(known: ReadFiles, files: readonly KeptFile[]): void {
  const present = new Set(files.map(({ path }) => path));
  for (const path of known.keys()) if (!present.has(path)) known.delete(path);
}

function allDone<Value>(results: readonly Result<Value>[]): Result<readonly Value[]> {
  const values: Value[] = [];
  for (const result of results) {
    if (!result.ok) return result;
    values.push(result.value);
  }
  return done(values);
}
