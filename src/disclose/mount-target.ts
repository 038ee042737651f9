/**
 * The folder of a workspace that skills are mounted into: made where it is missing, never reached over a link, and
 * claimed by a marker file, so that nobody mounts into it a second time until it is released.
 */
import { lstatSync, mkdirSync, realpathSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SkillMountError } from "../foundation/errors.ts";
import { checkContainedPath, showPath } from "../host/contained-path.ts";
import { realPathOr } from "../host/project-folders.ts";

export interface ClaimedTarget {
  /** Absolute, links resolved. */
  readonly path: string;
  /** Relative to the workspace, with `/` between segments. */
  readonly mountPath: string;
  /** Whether the path still leads to the folder that was claimed. */
  isInPlace(): boolean;
  /** Takes away the marker, and the folders that were made if nothing else is in them. */
  release(): void;
}

const MARKER = ".metier-mount";

/** `target` is relative to `workspace` and stays in it. Throws `SkillMountError`. */
export function claimTarget(workspace: string, target: string): ClaimedTarget {
  const checked = checkContainedPath(target);
  if (!checked.ok) {
    throw new SkillMountError(
      String(target),
      checked.reason,
      `The mount path is refused: ${checked.message}`,
      {
        hint: "Name a folder below the workspace, such as `skills`.",
      },
    );
  }
  const made: string[] = [];
  let path = resolveWorkspace(workspace);
  const marker = join(path, ...checked.segments, MARKER);
  const release = (): void => {
    rmSync(marker, { force: true });
    for (const folder of made.toReversed()) removeIfEmpty(folder);
  };
  try {
    for (const segment of checked.segments) {
      path = join(path, segment);
      if (enterFolder(path)) made.push(path);
    }
    claim(path, marker);
  } catch (error) {
    for (const folder of made.toReversed()) removeIfEmpty(folder);
    if (error instanceof SkillMountError) throw error;
    const message = `The mount path ${showPath(path)} cannot be made: ${(error as Error).message}.`;
    throw new SkillMountError(path, "failed", message, { cause: error });
  }
  return { path, mountPath: checked.path, isInPlace: () => realPathOr(path) === path, release };
}

function resolveWorkspace(workspace: string): string {
  let cause: unknown;
  try {
    const path = realpathSync.native(workspace);
    if (statSync(path).isDirectory()) return path;
  } catch (error) {
    cause = error;
  }
  const message = `The workspace ${showPath(workspace)} is not a folder that can be used.`;
  throw new SkillMountError(workspace, "missing", message, { cause });
}

/** Makes a folder, or finds it there. Whether it was made. */
function enterFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (cause) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return false;
    const shown = showPath(path);
    if (found?.isSymbolicLink()) {
      const message = `The mount path is refused: ${shown} is a link, which may lead out of the workspace.`;
      throw new SkillMountError(path, "outside", message);
    }
    if (found) throw new SkillMountError(path, "taken", `${shown} is there already and is not a folder.`);
    throw cause;
  }
}

function claim(path: string, marker: string): void {
  try {
    writeFileSync(marker, "Skills are mounted here; Metier removes them and this file.\n", { flag: "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new SkillMountError(path, "taken", `Skills are mounted at ${showPath(path)} already.`, {
      hint: `Clean up the first mount, or choose another path. If the program that made it is gone, delete \`${marker}\`.`,
    });
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Someone put something into it, or took it away: then it is not ours any more.
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
}
