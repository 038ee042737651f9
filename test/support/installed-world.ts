/** A world in which skills are installed: in the store, and recorded by a lock. */
import { metierPlaces, type Places } from "@metier/base/places";
import type { Metier } from "@metier/runtime";
import {
  type LockEntry,
  type LockFile,
  projectLockFile,
  storeFolder,
  userLockFile,
} from "@metier/skills/trust";
import { fillStore, lockEntry, record } from "./locks.ts";
import { createWorld, skill, type World } from "./world.ts";

export interface InstalledWorld extends World {
  readonly places: Places;
  readonly userLock: LockFile;
  readonly projectLock: LockFile;
  /** Puts a skill into the store and records it; answers with its folder. */
  install(lock: LockFile, name: string, body?: string, more?: Partial<LockEntry>): string;
}

export function createInstalledWorld(): InstalledWorld {
  const world = createWorld();
  const places = metierPlaces(world.home);
  return {
    ...world,
    places,
    userLock: userLockFile(places),
    projectLock: projectLockFile(world.project),
    install(lock, name, body = "Do it.", more = {}) {
      const digest = fillStore(places, name, { "SKILL.md": skill(name, "", body) });
      record(lock, lockEntry(name, { digest, ...more }));
      return storeFolder(places, { name, digest });
    },
  };
}

export function codesOf(metier: Metier): readonly string[] {
  return metier.diagnostics().map(({ code }) => code);
}
