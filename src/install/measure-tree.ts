/** How much a folder that was written here holds. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

export function measureTree(folder: string): { readonly files: number; readonly bytes: number } {
  let files = 0;
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    files += 1;
    bytes += lstatSync(join(entry.parentPath, entry.name)).size;
  }
  return { files, bytes };
}
