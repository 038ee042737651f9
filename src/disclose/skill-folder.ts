/**
 * From a skill of a catalog to the real folder its files are read from. A catalog is a snapshot, so it is checked again
 * on every use that the folder still lies where skills may lie, and still is that skill's.
 */
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { SkillResourceError } from "../foundation/errors.ts";
import { openContained, withContained } from "../host/open-contained.ts";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Skill } from "../skill/skill.ts";

export interface FolderAccess {
  /**
   * The skills directories in use: the skill's folder or file may be a link into any of them. By default only into the
   * one it was found under.
   */
  readonly roots?: readonly string[];
}

/** What is needed of a skill to find its files. */
export type LocatedSkill = Pick<Skill, "name" | "form" | "location" | "directory" | "root" | "remote">;

/** Real paths into which the links of this skill's folder and file may lead. */
export function realRoots({ root }: LocatedSkill, { roots = [] }: FolderAccess): readonly string[] {
  return [root, ...roots].map(realPathOr);
}

/** Only a folder can hold more than the skill file: a flat skill shares its folder with others. */
export function hasFolder({ form, location }: LocatedSkill): boolean {
  return form === "directory" && location !== "";
}

/** The real folder of a skill that has one. Throws `SkillResourceError`. */
export function requireSkillFolder(skill: LocatedSkill, access: FolderAccess = {}): string {
  const { name, directory, location } = skill;
  const roots = realRoots(skill, access);
  let folder: string;
  let file: string;
  try {
    folder = realpathSync.native(directory);
    file = realpathSync.native(location);
  } catch (cause) {
    const hint = "Load the catalog again; the skill may have been removed.";
    throw new SkillResourceError(name, location, "missing", `\`${location}\` is not there any more.`, {
      cause,
      hint,
    });
  }
  // A root may also be the skill file itself, asked for by its path.
  if (!roots.some((root) => isInside(folder, root) || root === file)) {
    const message = `its folder \`${directory}\` is a link that leads out of the skills directories.`;
    throw new SkillResourceError(name, directory, "outside", message);
  }
  const opened = withContained(openContained(folder, basename(location), roots), () => undefined);
  if (opened) throw new SkillResourceError(name, location, opened.reason, opened.message);
  return folder;
}
