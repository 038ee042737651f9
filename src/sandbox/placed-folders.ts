/**
 * Folders that the commands of a run see at another path than their own. Nothing is written into the folder they appear
 * in: an empty one stands in its place, with each of its entries and the placed folders mounted into it. The file tools do
 * not see them: they are for programs, and no part of the skill.
 */
import { type Dirent, readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { PlacedFolder, World } from "./world.ts";

/** Those that appear directly in `folder`. */
export function placedIn({ placed = [] }: World, folder: string): readonly PlacedFolder[] {
  return placed.filter(({ at }) => dirname(at) === folder);
}

/** Variables by which programs find them. */
export function placedVariables({ placed = [] }: World): Readonly<Record<string, string>> {
  return Object.fromEntries(placed.flatMap(({ at, variable }) => (variable ? [[variable, at]] : [])));
}

/** Arguments of bubblewrap that show `folder` read-only with these in it; it is to be remounted read-only at the end. */
export function mountWithPlaced(folder: string, placed: readonly PlacedFolder[]): readonly string[] {
  try {
    const covered = new Set(placed.map(({ at }) => basename(at)));
    const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !covered.has(name));
    return [
      ...["--tmpfs", folder],
      ...entries.flatMap((entry) => mountEntry(entry, join(folder, entry.name))),
      ...placed.flatMap(({ from, at }) => ["--ro-bind", from, at]),
    ];
  } catch {
    return ["--ro-bind", folder, folder]; // It is gone, or not for us: bubblewrap refuses, and says so.
  }
}

function mountEntry(entry: Dirent, path: string): readonly string[] {
  return entry.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind-try", path, path];
}
