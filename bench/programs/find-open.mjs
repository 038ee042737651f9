/** Opens the index of the skills in a folder as the runtime does, and prints how many files it read. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { MANIFEST_DEFAULTS, openFindIndex } from "@metier/skills";

const [root = ".", cacheFolder = ".", query = ""] = process.argv.slice(2);
const skills = readdirSync(root).map((name) => ({
  name,
  manifest: { ...MANIFEST_DEFAULTS, name, description: name },
  form: /** @type {const} */ ("directory"),
  location: join(root, name, "SKILL.md"),
  root,
}));
const index = await openFindIndex({ skills, cacheFolder });
const found = index.find(query);
process.stdout.write(`${index.filesRead} read, ${found.length} found\n`);
