/** The files of the built page in the package. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MetierError } from "@metier/base/errors";
import { packageFolder } from "@metier/base/files";

/** Paths relative to the page's folder: `index.html`, `assets/main.js`, and `export/page.js` and `export/page.css`. */
export function readPageFiles(): readonly { readonly path: string; readonly body: Buffer }[] {
  const folder = join(packageFolder() ?? "", "dist", "inspector");
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = join(entry.parentPath, entry.name);
        return { path: file.slice(folder.length + 1).replaceAll("\\", "/"), body: readFileSync(file) };
      });
  } catch (fault) {
    throw new MetierError("package.incomplete", "This build of Metier has no inspector page.", {
      hint: "In a clone, run `npm run build`. In a bundle, leave `metier` out of it.",
      cause: fault,
    });
  }
}
