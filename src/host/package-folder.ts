/** Where this package is installed: the folder above the running code that holds its bundled skills. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Built code stands at another depth than the sources, so the folder is looked for instead of counted out. */
export function packageFolder(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level < 4; level++) {
    if (existsSync(join(folder, "package.json")) && existsSync(join(folder, "skills"))) return folder;
    folder = dirname(folder);
  }
  return undefined;
}
