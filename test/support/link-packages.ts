/** The packages that a user has beside ours: those that a program imports, put where npm would put them. */
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./repository.ts";

export function linkPackages(program: string, folder: string): void {
  for (const [, name = ""] of program.matchAll(/ from "((?:@[\w-]+\/)?\w[\w.-]*)(?:\/[\w-]+)*"/g)) {
    const link = join(folder, "node_modules", name);
    if (existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), link);
  }
}
