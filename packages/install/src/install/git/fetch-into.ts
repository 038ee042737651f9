/** A bare repository of our own, as small as git takes it, and how something is fetched into it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SHA1_LENGTH } from "./git-objects.ts";

/** What `git init` makes, without the process. How long ids are tells which kind of them it has. */
export function makeRepository(folder: string, idLength: number): void {
  for (const name of ["objects", "refs"]) mkdirSync(join(folder, name), { recursive: true });
  const isSha1 = idLength === SHA1_LENGTH;
  const format = isSha1 ? "" : "[extensions]\n\tobjectFormat = sha256\n";
  const core = `[core]\n\trepositoryFormatVersion = ${isSha1 ? 0 : 1}\n\tbare = true\n`;
  writeFileSync(join(folder, "config"), `${core}${format}`);
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
}

/** The beginning of every fetch. */
export function fetchInto(folder: string): readonly string[] {
  return [
    `--git-dir=${folder}`,
    "fetch",
    "--progress",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
  ];
}
