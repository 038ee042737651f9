/** From a path to a candidate: which form a file has by its name, and what the skill would be called by default. */
import { basename, dirname, extname } from "node:path";
import type { SkillCandidate, SkillForm } from "../skill/skill.ts";
import { isSkillFileName } from "./folder-listing.ts";

/** `undefined` when a file of that name cannot be a skill. */
export function formOfFile(file: string): SkillForm | undefined {
  if (isSkillFileName(basename(file))) return "directory";
  const ending = extname(file).toLowerCase();
  if (ending === ".md") return "markdown";
  return ending === ".yaml" || ending === ".yml" ? "yaml" : undefined;
}

export function candidateForFile(file: string, form: SkillForm): SkillCandidate {
  const directory = dirname(file);
  const defaultName = form === "directory" ? basename(directory) : basename(file, extname(file));
  return { form, file, directory, defaultName };
}
