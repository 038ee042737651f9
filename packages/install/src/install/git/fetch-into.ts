/** Our own bare repository, as small as git accepts, and how to fetch into it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SHA1_LENGTH } from "./git-objects.ts";

/** What `git init` creates, without the process. The length of ids shows their kind. */
export function makeRepository(folder: string, idLength: number): void {
  for (const name of ["objects", "refs"]) mkdirSync(join(folder, name), { recursive: true });
  const isSha1 = idLength === SHA1_LENGTH;
  const format = isSha1 ? "" : "[extensions]\n\tobjectFormat = sha256\n";
  const core = `[core]\n\trepositoryFormatVersion = ${isSha1 ? 0 : 1}\n\tbare = true\n`;
  writeFileSync(join(folder, "config"), `${core}${format}`);
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
}

/** The start of every fetch command. */
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
