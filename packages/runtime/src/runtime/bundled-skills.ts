/** Where Metier's bundled skills are. */
import { join } from "node:path";
import { layOutCarried, packageFolder } from "@metier/base/files";
import type { Places } from "@metier/base/places";

/** In the package; if Metier is part of a bundle, which has no such folder, from what the bundle contains. */
export async function bundledSkills({ cache }: Places): Promise<string> {
  const own = packageFolder();
  if (own !== undefined) return join(own, "skills");
  const { CARRIED_SKILLS } = await import("./carried-skills.ts");
  return layOutCarried("skills", CARRIED_SKILLS, cache);
}
