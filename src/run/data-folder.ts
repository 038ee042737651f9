/**
 * Where a skill keeps data over its runs, its updates and its removal: a folder for each user, and one that all runs of
 * the skill may read. A skill that nobody vouched for, or that came with a project, never sees another's of its name.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { distinctName, folderName } from "../host/folder-name.ts";
import type { Places } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Skill, Trust } from "../skill/skill.ts";

export interface DataFolders {
  /** `$METIER_DATA_DIR`: of one user, or of runs without one. */
  readonly own: string;
  /** What every run of the skill may read, and none may write. Beside the others, so that it is found from there. */
  readonly global: string;
}

export interface DataOwner {
  readonly skill: Pick<Skill, "name" | "scope" | "directory" | "location" | "locked">;
  /** Of this use: what a skill does for a caller it must not trust is kept apart. */
  readonly trust: Trust;
  readonly user?: string | undefined;
}

export function dataFolders({ data }: Pick<Places, "data">, { skill, trust, user }: DataOwner): DataFolders {
  const folder = join(data, dataKey(skill, trust));
  return {
    own: join(folder, user === undefined ? "own" : `user-${folderName(user)}`),
    global: join(folder, "global"),
  };
}

export interface FoundData {
  readonly folders?: DataFolders;
  readonly diagnostics: readonly Diagnostic[];
}

/** As a run would have them; nothing is made. */
export function nameDataFolders(places: Pick<Places, "data">, owner: DataOwner): FoundData {
  return { folders: dataFolders(places, owner), diagnostics: [] };
}

/** Made where they are missing. A disk that takes no folder is a diagnostic, and the skill has no data then. */
export function makeDataFolders(places: Pick<Places, "data">, owner: DataOwner): FoundData {
  const folders = dataFolders(places, owner);
  try {
    for (const folder of [folders.own, folders.global]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { folders, diagnostics: [] };
  } catch (fault) {
    const message = `Skill \`${owner.skill.name}\` has no data folder: ${(fault as Error).message}.`;
    const hint = "Make the folder writable for you, or choose another home with `--home`.";
    const code = "data.folder-missing";
    return { diagnostics: [{ code, severity: "warning", message, path: folders.own, hint }] };
  }
}

function dataKey({ name, scope, directory, location, locked }: DataOwner["skill"], trust: Trust): string {
  if (trust === "trusted" && scope !== "project") return folderName(name);
  // An installed skill has another folder after each update, and keeps its data; one of another source gets none of it.
  if (locked && !locked.linked)
    return distinctName(name, `${realPathOr(locked.lock)}\0${name}\0${locked.origin}`);
  // The name of a server's skill is its own, and its folder another after each change.
  return distinctName(name, location === "" || scope === "remote" ? name : realPathOr(directory));
}
