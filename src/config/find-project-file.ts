/** The project's config file: the nearest `.metier/config.*` of the project folders. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { isOwnFolder, projectFolders } from "../host/project-folders.ts";

/** Where two stand beside each other, the first of these is read. */
export const CONFIG_FILE_NAMES = ["config.toml", "config.yaml", "config.yml", "config.json"] as const;

export interface FoundProjectFile {
  readonly file?: string;
  readonly diagnostics: readonly Diagnostic[];
}

export function findProjectFile(cwd: string, home: string): FoundProjectFile {
  const { folders, foreign } = projectFolders(cwd, home);
  const diagnostics: Diagnostic[] = foreign.flatMap((folder) => configFilesIn(folder).map(reportForeign));
  for (const folder of folders) {
    const files = configFilesIn(folder);
    const own = files.filter((file) => isOwnFolder(join(folder, ".metier")) && isOwnFolder(file));
    diagnostics.push(...files.filter((file) => !own.includes(file)).map(reportForeign));
    const [file, ...others] = own;
    if (file === undefined) continue;
    if (others.length > 0) diagnostics.push(reportTwoFiles(file, others));
    return { file, diagnostics };
  }
  return { diagnostics };
}

/** The config files of a project folder, the one that is read first. */
export function configFilesIn(folder: string): readonly string[] {
  const directory = join(folder, ".metier");
  try {
    const names = new Set(readdirSync(directory));
    return CONFIG_FILE_NAMES.filter((name) => names.has(name)).map((name) => join(directory, name));
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    // A folder that cannot be listed may hold a file; reading it then says what is wrong.
    return code === "ENOENT" || code === "ENOTDIR" ? [] : [join(directory, CONFIG_FILE_NAMES[0])];
  }
}

function reportForeign(file: string): Diagnostic {
  return {
    code: "config.foreign-owner",
    severity: "warning",
    message: `The config file \`${file}\` is not read: the file or its folder belongs to another user.`,
    path: file,
    hint: "Copy the project to a folder of your own, or name the file with `--config`.",
  };
}

function reportTwoFiles(file: string, others: readonly string[]): Diagnostic {
  return {
    code: "config.two-files",
    severity: "warning",
    message: `\`${file}\` is read, and beside it ${others.map((other) => `\`${other}\``).join(", ")} is not.`,
    path: file,
    hint: `Keep one of them. The order is ${CONFIG_FILE_NAMES.join(", ")}.`,
  };
}
