/**
 * Reads objects of a local repository in place: our own repository names its object folder as another location
 * (`objects/info/alternates`). Nothing is copied, and neither its config nor anything else of it is used.
 */
import { lstatSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the repository stores its objects, as git finds it; `undefined` if it is not here, or stored another way. */
export function findObjects(url: string): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  const folder = fileURLToPath(url);
  const repository = [join(folder, ".git"), folder].find(isRepository);
  // It becomes a line in a file, which must not be a comment or quoted.
  return repository?.startsWith("/") && !repository.includes("\n") ? join(repository, "objects") : undefined;
}

/** A linked work tree has a file called `.git`, and its objects elsewhere. */
function isRepository(folder: string): boolean {
  const isThere = (name: string): boolean =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() ?? false;
  return (
    lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true &&
    isThere("objects") &&
    isThere("refs")
  );
}

export function lendObjects(objects: string, repository: string): void {
  const info = join(repository, "objects", "info");
  mkdirSync(info, { recursive: true });
  writeFileSync(join(info, "alternates"), `${objects}\n`);
}
