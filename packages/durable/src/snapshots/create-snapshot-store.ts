/**
 * Snapshots of work folders on any blob store: a folder's content as encrypted blobs, and a manifest that names them.
 */
import { realpathSync } from "node:fs";
import { done, type Result } from "@metier/base/result";
import { createTurns, dropOldest, mapBounded } from "@metier/base/turns";
import type { NeededSnapshot } from "../journal-store.ts";
import type { TenantKeys } from "../keys/tenant-keys.ts";
import type { BlobStore, SnapshotScope, SnapshotStore, TenantSnapshots } from "../snapshot-store.ts";
import { collectBlobs, deleteAll } from "./collect-blobs.ts";
import { countBytes, refuseFull, type SnapshotLimits, type StorageOf, sumBytes } from "./count-bytes.ts";
import { layOutSnapshot } from "./lay-out-snapshot.ts";
import { type KeptFile, readManifest, writeManifest } from "./manifest.ts";
import { type ReadFiles, readFile } from "./read-files.ts";
import { type BlobKind, damagedSnapshot, sealFor, type TenantBlobs } from "./seal-blob.ts";
import { type FolderBounds, walkFolder } from "./walk-folder.ts";

interface SnapshotStoreOptions {
  readonly blobs: BlobStore;
  readonly keys: Pick<TenantKeys, "of">;
  readonly bounds?: FolderBounds;
  readonly limits?: SnapshotLimits | undefined;
  /** Default: `limits` applies to all tenants. */
  readonly storageOf?: StorageOf | undefined;
  /**
   * If other processes use the same blobs: how long nobody removes a stored blob, needed or not, in milliseconds. A
   * snapshot must be in the journal before half of this time has passed. Default: 0, this process is the only one.
   */
  readonly graceMs?: number | undefined;
}

const BOUNDS: FolderBounds = { maxEntries: 50_000, maxBytes: 4 * 1024 ** 3 };
const MOST_AT_ONCE = 8;
/** Longer than it takes to record a snapshot in the journal. */
const RECENT_MS = 60_000;
const MOST_RECENT = 10_000;
/** How many folders' reads are remembered; for any other folder, all files are read. */
const MOST_FOLDERS = 200;

export function createSnapshotStore(options: SnapshotStoreOptions): TenantSnapshots {
  const { blobs, keys, bounds = BOUNDS, limits = {}, graceMs = 0 } = options;
  const { storageOf = async () => undefined } = options;
  const renewMs = graceMs > 0 ? graceMs / 2 : Number.POSITIVE_INFINITY;
  const counting = countBytes({ blobs, limits, storageOf, renewMs });
  const folders = new Map<string, ReadFiles>();
  const openSealing = async (tenant: string): Promise<TenantBlobs> => sealFor(await keys.of(tenant), tenant);
  const load = (kind: BlobKind, name: string, sealing: TenantBlobs): Promise<Buffer> =>
    loadBlob(blobs, kind, name, sealing);
  const turns = createTurns();
  const recent = rememberTaken();
  const forgetKnown = (): void => {
    folders.clear(); // Files read before may have been stored in blobs that were removed.
    counting.forget();
  };
  const takeNow: SnapshotStore["take"] = async (folder, scope) => {
    const { tenant } = scope;
    const root = realpathSync.native(folder);
    const found = await walkFolder(root, bounds);
    if (!found.ok) return found;
    const sealing = await openSealing(tenant);
    const known = recall(folders, JSON.stringify([tenant, root]));
    const keep = await counting.open(scope, sealing.prefixes());
    const reading = { root, keep, sealing, known, believedSince: Date.now() - renewMs };
    const files = allDone(
      await mapBounded(found.value.files, MOST_AT_ONCE, (file) => readFile(reading, file)),
    );
    if (!files.ok) return files;
    forgetOthers(known, files.value);
    const manifest = writeManifest({ ...found.value, files: files.value });
    const name = sealing.nameOf("manifest", manifest);
    await keep(name, () => sealing.seal(name, manifest));
    recent.add({ tenant, name });
    return done(name);
  };
  const partsOf = async ({ tenant }: SnapshotScope, name: string): Promise<readonly string[]> => {
    const { files } = readManifest(await load("manifest", name, await openSealing(tenant)));
    return files.flatMap(({ parts }) => parts);
  };
  const prefixesOf = async (tenant: string) => (await openSealing(tenant)).prefixes();
  return {
    take: (folder, scope) => turns.beside(() => takeNow(folder, scope).catch(refuseFull)),
    collect: (needed) =>
      turns.alone(async () => {
        const all = typeof needed === "function" ? [...(await needed()), ...recent.list()] : needed;
        return collectBlobs({ blobs, graceMs, partsOf, prefixesOf }, all).finally(forgetKnown);
      }),
    async restore(name, folder, scope) {
      const sealing = await openSealing(scope.tenant);
      const manifest = readManifest(await load("manifest", name, sealing));
      await layOutSnapshot(folder, manifest, (part) => load("part", part, sealing));
    },
    bytes: async (tenant) => sumBytes(blobs, await prefixesOf(tenant)),
    clear: (tenant) =>
      turns.alone(async () => deleteAll(blobs, await prefixesOf(tenant)).finally(forgetKnown)),
  };
}

async function loadBlob(
  blobs: BlobStore,
  kind: BlobKind,
  name: string,
  sealing: TenantBlobs,
): Promise<Buffer> {
  const sealed = await blobs.get(name);
  if (sealed === undefined) throw damagedSnapshot(`a part of it is missing (\`${name}\`)`);
  return sealing.open(kind, name, sealed);
}

interface TakenSnapshots {
  add(taken: NeededSnapshot): void;
  list(): readonly NeededSnapshot[];
}

function rememberTaken(): TakenSnapshots {
  const taken = new Map<string, { readonly tenant: string; readonly at: number }>();
  const forgetOld = (): void => {
    for (const [name, { at }] of taken) if (Date.now() - at > RECENT_MS) taken.delete(name);
  };
  return {
    add({ tenant, name }) {
      taken.delete(name);
      taken.set(name, { tenant, at: Date.now() });
      if (taken.size > MOST_RECENT) forgetOld();
    },
    list() {
      forgetOld();
      return [...taken].map(([name, { tenant }]) => ({ tenant, name }));
    },
  };
}

/** The least recently used one makes room. */
function recall(folders: Map<string, ReadFiles>, key: string): ReadFiles {
  const known: ReadFiles = folders.get(key) ?? new Map();
  folders.delete(key);
  folders.set(key, known);
  dropOldest(folders, MOST_FOLDERS);
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
