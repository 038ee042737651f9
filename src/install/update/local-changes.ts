/** What someone changed by hand in the folders that hold an installed skill: the store's, the project's own, other clients'. */
import { lstatSync } from "node:fs";
import type { LockEntry } from "../../lock/lock-entry.ts";
import {
  isWithinOwner,
  type LockFile,
  lockedFolder,
  placedFolder,
  storeFolder,
} from "../../lock/lock-places.ts";
import { compareIdentity, identifyFolder } from "../../trust/content-identity.ts";
import type { IdentifiedFile } from "../../trust/identify-file.ts";
import { type FaultOutcome, faulty } from "../install-fault.ts";
import type { InstallParts } from "../install-request.ts";
import { stateOfPlace } from "../place-state.ts";
import type { LocalChanges } from "../update-request.ts";

export interface EditedFolder extends LocalChanges {
  readonly content: readonly IdentifiedFile[];
}

/** A folder that holds the skill, and for whom. */
export interface HeldFolder {
  readonly folder: string;
  readonly client?: string;
}

/** Where the skill lies as files of its own that may have been changed; links lead to one of them. */
export function heldFolders(
  entry: LockEntry,
  lockFile: LockFile,
  { places }: Pick<InstallParts, "places">,
): readonly HeldFolder[] {
  if (entry.linked) return [{ folder: lockedFolder(places, lockFile, entry) }];
  const copies = (entry.placed ?? [])
    .filter((copy) => copy.how === "copy" && stateOfPlace(copy, entry, { places, lockFile }) === "foreign")
    .map((copy) => ({ folder: placedFolder(lockFile, copy), client: copy.client }));
  const own = lockedFolder(places, lockFile, entry);
  const hasOwn = entry.copied && isWithinOwner(lockFile, own);
  return [{ folder: storeFolder(places, entry) }, ...(hasOwn ? [{ folder: own }] : []), ...copies];
}

export type EditedFolders = { readonly ok: true; readonly edited: readonly EditedFolder[] } | FaultOutcome;

/** `known`: the digests that Metier itself may have put there. `base`: the files of the installed version, where known. */
export function findEdited(
  folders: readonly HeldFolder[],
  known: readonly string[],
  base: readonly IdentifiedFile[] | undefined,
): EditedFolders {
  const edited: EditedFolder[] = [];
  for (const held of folders) {
    const stats = lstatSync(held.folder, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    const outcome = stats.isDirectory() ? identifyFolder(held.folder) : undefined;
    if (!outcome?.ok) return unreadable(held.folder, outcome?.diagnostic.message ?? "It is not a folder.");
    const { digest, files: content } = outcome.identity;
    if (known.includes(digest)) continue;
    edited.push({ ...held, digest, content, files: compareIdentity(base ?? [], content) });
  }
  return { ok: true, edited };
}

function unreadable(folder: string, why: string): FaultOutcome {
  return faulty(
    "install.conflict",
    `What was changed by hand in \`${folder}\` cannot be told, so it is left alone. ${why}`,
    "Move it away, then run the command again.",
  );
}
