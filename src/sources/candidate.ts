/** From a path to a candidate: which form a file has by its name, and what the skill would be called by default. */
import { basename, dirname, extname, sep } from "node:path";
import { nameInStore } from "../lock/lock-places.ts";
import type { SkillCandidate, SkillForm } from "../skill/skill.ts";
import { isSkillFileName } from "./folder-listing.ts";

/** `undefined` when a file of that name cannot be a skill. */
export function formOfFile(file: string): SkillForm | undefined {
  const name = file.slice(file.lastIndexOf(sep) + 1);
  if (isSkillFileName(name)) return "directory";
  const ending = extname(file).toLowerCase();
  if (ending === ".md") return "markdown";
  return ending === ".yaml" || ending === ".yml" ? "yaml" : undefined;
}

/** `directory` is the folder the file stands in, for callers that know it. */
export function candidateForFile(
  file: string,
  form: SkillForm,
  directory: string = dirname(file),
): SkillCandidate {
  // Paths are clean here; cutting them is quicker than taking them apart, and there are thousands.
  const defaultName =
    form === "directory"
      ? nameOfFolder(directory.slice(directory.lastIndexOf(sep) + 1))
      : basename(file, extname(file));
  return { form, file, directory, defaultName };
}

/** In the store a folder's name is the skill's with a part of its digest. */
function nameOfFolder(folder: string): string {
  return nameInStore(folder) ?? folder;
}
