/** The minimum cost of listing: walks a folder of skills and reads every skill file, and does nothing with them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = process.argv[2] ?? ".";
let bytes = 0;
for (const entry of readdirSync(root, { withFileTypes: true })) {
  const folder = join(root, entry.name);
  for (const file of readdirSync(folder)) {
    if (file === "SKILL.md") bytes += readFileSync(join(folder, file), "utf8").length;
  }
}
process.stdout.write(`${bytes}\n`);
