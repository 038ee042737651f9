/**
 * What a run may do with a path: the one answer that the path gate of the file tools and the mounts of a sandbox are
 * both made from. The innermost entry of the world decides: a work folder inside Metier's hidden folder is writable, a
 * skill inside a writable project is not.
 */
import { basename, dirname } from "node:path";
import { isSecretName } from "./secret-names.ts";
import type { World } from "./world.ts";

export type Access = "none" | "read" | "write";

/** One entry per path, outer folders before what lies in them. */
export type WorldRules = ReadonlyMap<string, Access>;

const known = new WeakMap<World, WorldRules>();

export function worldRules(world: World): WorldRules {
  const cached = known.get(world);
  if (cached) return cached;
  const rules = new Map<string, Access>();
  // A later line beats an earlier one for the same path.
  for (const path of world.readable) rules.set(path, "read");
  for (const path of world.writable) rules.set(path, "write");
  for (const path of world.protectedPaths) rules.set(path, "read");
  for (const path of world.masked) rules.set(path, "none");
  const sorted = outerFirst(rules);
  known.set(world, sorted);
  return sorted;
}

export function outerFirst(rules: WorldRules): WorldRules {
  return new Map([...rules].sort(([a], [b]) => countSegments(a) - countSegments(b)));
}

/** For a real path, of something that is there or is to be made. */
export function accessTo(world: World, realPath: string): Access {
  const rules = worldRules(world);
  let hasSecretName = false;
  for (let path = realPath; ; path = dirname(path)) {
    const access = rules.get(path);
    if (access !== undefined) return hasSecretName && path !== world.workDir ? "none" : access;
    if (path === dirname(path)) return "none";
    hasSecretName ||= isSecretName(basename(path));
  }
}

/** Whether a run sees what lies at this real path. */
export function isVisible(world: World, realPath: string): boolean {
  return accessTo(world, realPath) !== "none";
}

function countSegments(path: string): number {
  return path.split("/").filter(Boolean).length;
}
