/**
 * Which index a root has: one to itself, but one for all installed skills that lie beside each other, since each of them
 * is a root and too small for an index.
 */
import { dirname } from "node:path";
import type { SkillRoot } from "../sources/skill-root.ts";
import type { Profile } from "../validate/profiles.ts";
import { openSkillIndex, type SkillIndex } from "./skill-index.ts";

export interface SkillIndexes {
  /** Saved when its root was read; a shared one only by `saveShared`. */
  of(root: SkillRoot): SkillIndex | undefined;
  saveShared(): void;
}

/** No indexes without a cache folder. */
export function openIndexes(cacheFolder: string | undefined, profile: Profile): SkillIndexes {
  const shared = new Map<string, SkillIndex>();
  const open = (cache: string, root: string): SkillIndex =>
    openSkillIndex({ cacheFolder: cache, root, profile });
  return {
    of({ path, locked }) {
      if (cacheFolder === undefined) return undefined;
      if (!locked) return open(cacheFolder, path);
      const folder = dirname(path);
      const index = shared.get(folder) ?? open(cacheFolder, folder);
      shared.set(folder, index);
      return { ...index, save: () => undefined };
    },
    saveShared() {
      for (const index of shared.values()) index.save();
    },
  };
}
