/** Where the program of the interpreted shell lies, and what its process must be able to read in order to start. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageFolder } from "../../host/package-folder.ts";

export interface ShellProgram {
  readonly file: string;
  readonly readable: readonly string[];
}

/** Sources lie beside this file; built code stands at several depths, and `dist/just-bash` serves all of it. */
export function findShell(): ShellProgram | undefined {
  const root = packageFolder() ?? "/";
  const source = join(dirname(fileURLToPath(import.meta.url)), "shell.ts");
  if (existsSync(source)) {
    return {
      file: source,
      readable: ["src", "node_modules", "package.json"].map((name) => join(root, name)),
    };
  }
  const folder = join(root, "dist", "just-bash");
  const file = join(folder, "shell.mjs");
  return existsSync(file) ? { file, readable: [folder] } : undefined;
}
