/** Entries of locks and folders of the store, as an installation would leave them. */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "@metier/base/places";
import { changeLock } from "@metier/skills/formats";
import { identifyFolder, type LockEntry, type LockFile, storeFolder, withEntry } from "@metier/skills/trust";
import { writeTree } from "./temporary.ts";

export function lockEntry(name: string, more: Partial<LockEntry> = {}): LockEntry {
  return {
    name,
    source: "https://example.com/skills.git",
    kind: "git",
    resolved: "0123456789abcdef0123456789abcdef01234567",
    path: `skills/${name}`,
    digest: `sha256:${"0".repeat(64)}`,
    ...more,
  };
}

/** The content identity of a folder that has one. */
export function digestOf(folder: string): string {
  const outcome = identifyFolder(folder);
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  return outcome.value.digest;
}

/** Puts a skill into the store and answers with its digest. */
export function fillStore(
  places: Places,
  name: string,
  files: Readonly<Record<string, string | Buffer>>,
): string {
  const folder = join(places.store, `.filling-${name}`);
  writeTree(folder, files);
  const digest = digestOf(folder);
  const target = storeFolder(places, { name, digest });
  rmSync(target, { recursive: true, force: true });
  renameSync(folder, target);
  return digest;
}

/** Records entries, in place of those that are called alike. */
export function record(lock: LockFile, ...entries: readonly LockEntry[]): void {
  const outcome = changeLock(lock, (before) => entries.reduce(withEntry, before));
  if (!outcome.ok) throw new Error(outcome.refusal.message);
}
