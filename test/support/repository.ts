/** The repository as the gates read it: its root and the files in it, by paths relative to the root. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const ROOT: string = resolve(import.meta.dirname, "../..");

/** Where the packages have their code, and where tests are. */
export const SOURCES: readonly string[] = inPackages("src");
export const TESTS: readonly string[] = ["test", ...inPackages("test")];

function inPackages(part: string): readonly string[] {
  return readdirSync(join(ROOT, "packages"))
    .map((name) => `packages/${name}/${part}`)
    .filter((folder) => existsSync(join(ROOT, folder)));
}

/** Every file below the given folders whose path ends in one of `endings`, sorted; fixtures are not ours to judge. */
export function filesUnder(folders: readonly string[], endings: readonly string[]): readonly string[] {
  return folders
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .filter((path) => !path.startsWith("test/fixtures/") && endings.some((ending) => path.endsWith(ending)))
    .sort();
}

export function readRepositoryFile(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}
