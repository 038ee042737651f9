/** A skill folder with a secret beside it, and what the path gate makes of a path: never the secret. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { type ResourceFault, SkillResourceError } from "@metier/base/errors";
import { type LocatedSkill, readResource } from "@metier/skills";
import { skillText, temporaryFolder, writeTree } from "../support/temporary.ts";

export const SECRET = "the-secret-outside";

export interface HostileSkill {
  readonly skill: LocatedSkill;
  /** The folder of the skill, and a folder outside with `secret.txt` and a `references/guide.md` of its own. */
  readonly directory: string;
  readonly outside: string;
}

export function hostileSkill(): HostileSkill {
  const base = realpathSync(temporaryFolder());
  const root = join(base, "skills");
  const directory = join(root, "pdf");
  const outside = join(base, "outside");
  writeTree(base, {
    "skills/pdf/SKILL.md": skillText("name: pdf\ndescription: d"),
    "skills/pdf/references/guide.md": "inside",
    "skills/pdf-evil/secret.txt": SECRET,
    "outside/secret.txt": SECRET,
    "outside/guide.md": SECRET,
    "outside/references/guide.md": SECRET,
    "outside/SKILL.md": skillText("name: pdf\ndescription: d", SECRET),
  });
  const location = join(directory, "SKILL.md");
  return { skill: { name: "pdf", form: "directory", location, directory, root }, directory, outside };
}

/** The text, or why there is none. Anything but a typed refusal is a fault of the gate. */
export function tryRead(skill: LocatedSkill, path: string): { text?: string; reason?: ResourceFault } {
  try {
    return { text: readResource(skill, path, { as: "text" }).text ?? "" };
  } catch (error) {
    if (error instanceof SkillResourceError) return { reason: error.reason };
    throw error;
  }
}
