/** Turns a world into bubblewrap mounts. Reads the disk only to see each path's type. */
import { type Dirent, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  type Access,
  outerFirst,
  type PlacedFolder,
  type World,
  type WorldRules,
  worldRules,
} from "../world/world.ts";

/**
 * The world's rules as mounts, outer ones first, so that the innermost decides, as in the path gate. `host` is where
 * bubblewrap sees the machine's root: empty, or a folder.
 */
export function mountWorld(world: World, host: string): string[] {
  const mounts: string[] = [];
  const closed: string[] = [];
  for (const [path, access] of withPins(world)) {
    if (access !== "none") {
      const placed = placedIn(world, path);
      if (placed.length > 0) {
        mounts.push(...mountWithPlaced(path, placed, host));
        closed.push("--remount-ro", path);
      } else mounts.push(access === "write" ? "--bind" : "--ro-bind", `${host}${path}`, path);
      continue;
    }
    const kind = kindOf(path);
    if (kind === "folder") {
      mounts.push("--tmpfs", path);
      closed.push("--remount-ro", path); // At the end: what is visible inside must be mounted first.
    } else if (kind === "file") mounts.push("--ro-bind", `${host}/dev/null`, path);
  }
  return [...mounts, ...closed];
}

/** What a mask must cover; not a link, since its target is masked itself. */
function kindOf(path: string): "file" | "folder" | undefined {
  try {
    const found = lstatSync(path);
    return found.isDirectory() ? "folder" : found.isSymbolicLink() ? undefined : "file";
  } catch {
    return undefined; // Nothing is there, or nothing this user could read.
  }
}

/**
 * A read-only path in a writable folder could be replaced by renaming a parent folder (`.git`), but a mount cannot be
 * renamed, so that folder becomes a mount. A mask is omitted if nothing around it is visible anyway.
 */
function withPins(world: World): WorldRules {
  const rules = worldRules(world);
  const guarded = new Set(world.protectedPaths);
  const mounts = new Map<string, Access>();
  for (const [path, access] of rules) {
    const around = accessAround(rules, path);
    if (access === "none" && around === "none") continue;
    mounts.set(path, access);
    const isFixed = around === "write" && (access === "read" || guarded.has(path));
    if (isFixed && !rules.has(dirname(path))) mounts.set(dirname(path), "write");
  }
  return outerFirst(mounts);
}

function accessAround(rules: WorldRules, path: string): Access {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const access = rules.get(folder);
    if (access !== undefined) return access;
    if (folder === dirname(folder)) return "none";
  }
}

/*
 * Placed folders: a run's commands see them at another path. Nothing is written into the folder they appear in: an
 * empty one takes its place, with each of its entries and the placed folders mounted into it. The file tools do not see
 * them: they are for programs, and not part of the skill.
 */

/** Those that appear directly in `folder`. */
function placedIn({ placed = [] }: World, folder: string): readonly PlacedFolder[] {
  return placed.filter(({ at }) => dirname(at) === folder);
}

/** Bubblewrap arguments that show `folder` read-only with these in it; remount it read-only at the end. */
function mountWithPlaced(folder: string, placed: readonly PlacedFolder[], host: string): readonly string[] {
  try {
    const covered = new Set(placed.map(({ at }) => basename(at)));
    const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !covered.has(name));
    return [
      ...["--tmpfs", folder],
      ...entries.flatMap((entry) => mountEntry(entry, join(folder, entry.name), host)),
      ...placed.flatMap(({ from, at }) => ["--ro-bind", `${host}${from}`, at]),
    ];
  } catch {
    return ["--ro-bind", `${host}${folder}`, folder]; // It is gone or not accessible: bubblewrap refuses and reports it.
  }
}

function mountEntry(entry: Dirent, path: string, host: string): readonly string[] {
  if (entry.isSymbolicLink()) return ["--symlink", readlinkSync(path), path];
  return ["--ro-bind-try", `${host}${path}`, path];
}
