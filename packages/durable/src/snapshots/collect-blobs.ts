/**
 * Removes blobs that nobody needs. If other processes store at the same time, young blobs stay whether or not they are
 * needed: a snapshot is stored first and enters the journal afterwards. A blob that is used again is stored again when
 * it is half that age (`KeepBlob`), so that nothing a new snapshot relies on is old enough to be removed.
 */
import { mapBounded } from "@metier/base/turns";
import type { NeededSnapshot } from "../journal-store.ts";
import type { BlobStore } from "../snapshot-store.ts";

interface CollectParts {
  readonly blobs: BlobStore;
  readonly graceMs: number;
  partsOf(scope: { readonly tenant: string }, name: string): Promise<readonly string[]>;
  prefixesOf(tenant: string): Promise<readonly string[]>;
}

const MOST_AT_ONCE = 8;
/** How many blobs are removed together, while others are listed. */
const BATCH = 500;

/** An unreadable snapshot doesn't reveal its parts, so everything of its tenant stays. */
export async function collectBlobs(
  { blobs, graceMs, partsOf, prefixesOf }: CollectParts,
  needed: readonly NeededSnapshot[],
): Promise<number> {
  const before = Date.now() - graceMs;
  const reached = new Set<string>();
  const unclear = new Set<string>();
  await mapBounded(needed, MOST_AT_ONCE, async ({ tenant, name }) => {
    reached.add(name);
    if (unclear.has(tenant)) return;
    try {
      for (const part of await partsOf({ tenant }, name)) reached.add(part);
    } catch {
      unclear.add(tenant); // Whoever restores it learns what is wrong with it.
    }
  });
  const kept = (await Promise.all([...unclear].map(prefixesOf))).flat();
  const isUnused = (name: string): boolean =>
    !reached.has(name) && !kept.some((prefix) => name.startsWith(prefix));
  let [count, batch] = [0, [] as string[]];
  const removeBatch = async (): Promise<void> => {
    const removed = await mapBounded(batch, MOST_AT_ONCE, (name) => removeOld(blobs, name, graceMs, before));
    count += removed.filter(Boolean).length;
    batch = [];
  };
  for await (const { name, storedAt } of blobs.entries("")) {
    if (!isUnused(name) || (graceMs > 0 && storedAt > before)) continue;
    batch.push(name);
    if (batch.length >= BATCH) await removeBatch();
  }
  await removeBatch();
  return count;
}

/** Checked again: someone may have stored it again since it was listed. */
async function removeOld(blobs: BlobStore, name: string, graceMs: number, before: number): Promise<boolean> {
  if (graceMs > 0 && ((await blobs.storedAt(name)) ?? before) > before) return false;
  await blobs.delete(name);
  return true;
}

/** Returns how many there were. */
export async function deleteAll(blobs: BlobStore, prefixes: readonly string[]): Promise<number> {
  const names: string[] = [];
  for (const prefix of prefixes) for await (const { name } of blobs.entries(prefix)) names.push(name);
  await mapBounded(names, MOST_AT_ONCE, (name) => blobs.delete(name));
  return names.length;
}
