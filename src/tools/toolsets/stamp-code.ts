/**
 * Whether the code of a skill is what it was: one text that differs when a file of code below its folder was changed,
 * added or removed. Which of them a toolset imports is not asked; installed packages and hidden folders do not count.
 */
import { type Dirent, readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { MODULE_ENDINGS } from "../../host/find-module.ts";

const CODE = new Set([...MODULE_ENDINGS, ".json", ".wasm"]);
/** Beyond them nothing is looked at: a skill so large is not watched whole, but each call stays quick. */
const MAX_ENTRIES = 2000;

export function stampCode(folder: string): string {
  const stamps: string[] = [];
  const pending = [folder];
  let entries = 0;
  for (let path = pending.shift(); path !== undefined; path = pending.shift()) {
    for (const entry of listSorted(path)) {
      entries += 1;
      if (entries > MAX_ENTRIES) return stamps.join("\n");
      const below = join(path, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== "node_modules" && !entry.name.startsWith(".")) pending.push(below);
      } else if (CODE.has(extname(entry.name))) stamps.push(stampFile(below));
    }
  }
  return stamps.join("\n");
}

function listSorted(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // It was removed meanwhile, which is a change like any other.
  }
}

function stampFile(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${path} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return path; // A link that leads nowhere, or a file that went away.
  }
}
