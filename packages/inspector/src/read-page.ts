/** The built page, as files by their path in the address. Read once, on the first request for it. */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { MetierError } from "@metier/base/errors";
import { packageFolder } from "@metier/base/files";

export interface PageFile {
  readonly body: Buffer;
  /** For `Content-Type`. */
  readonly type: string;
  /** Files that have a digest in their name never change. */
  readonly cache: "revalidate" | "immutable";
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** `index.html` and `assets/…`. Throws where this build has no page. */
export function readPage(): { find(path: string): PageFile | undefined } {
  const files = new Map<string, PageFile>();
  for (const { path, body } of readPageFiles()) {
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    const cache = /-[A-Z0-9]{8}\.\w+$/.test(path) ? "immutable" : "revalidate";
    files.set(path, { body, type, cache });
  }
  return { find: (path) => files.get(path) };
}

/** Paths below the folder of the page: `index.html`, `assets/main.js`, and `export/page.js` and `export/page.css`. */
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
    throw new MetierError("package.incomplete", "The inspector's page is not in this build of Metier.", {
      hint: "In a clone: `npm run build`. In a bundle: leave `metier` out of it.",
      cause: fault,
    });
  }
}
