/**
 * What a mount does on disk. A skill's folder is copied file by file through the path gate: modes are kept, links that
 * stay inside are recreated, anything that leads out or is not a file is left out with a diagnostic. Sizes are counted
 * while copying. The target is created if needed, never reached through a link, and claimed by a marker file, so that
 * nobody mounts into it again until it is released.
 */
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { SkillMountError } from "@metier/base/errors";
import {
  type ContainedFault,
  type ContainedFile,
  checkContainedPath,
  type ListedFile,
  listFiles,
  openContained,
  showPath,
  withContained,
} from "@metier/base/files";
import { isInside, realPathOr } from "@metier/base/places";
import { reportLeftOut } from "./resources.ts";

export interface MountLimits {
  /** For one file. */
  readonly fileBytes: number;
  /** For all files of a skill. */
  readonly skillBytes: number;
  /** For all skills of one mount. */
  readonly totalBytes: number;
  /** Files and folders of one skill. */
  readonly entries: number;
}

const MEBIBYTE = 1024 * 1024;

export const MOUNT_LIMITS: MountLimits = {
  fileBytes: 10 * MEBIBYTE,
  skillBytes: 50 * MEBIBYTE,
  totalBytes: 256 * MEBIBYTE,
  entries: 20_000,
};

/** What one mount has copied so far. */
export interface CopyCount {
  readonly limits: MountLimits;
  /** For the skill being copied. */
  skillBytes: number;
  totalBytes: number;
}

/** Copies `folder`, a real path, into `destination`, which exists and is empty. Throws `SkillMountError`. */
export function copySkillFolder(
  folder: string,
  destination: string,
  count: CopyCount,
): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  // Links come last, so that it is known which of them have a target.
  const entries = listSkill(folder, count.limits.entries).toSorted(
    (a, b) => Number(a.kind === "link") - Number(b.kind === "link"),
  );
  for (const entry of entries) {
    const source = join(folder, entry.path);
    const target = join(destination, entry.path);
    mkdirSync(dirname(target), { recursive: true });
    const outcome = withContained(openContained(folder, entry.path), (file) => {
      if (entry.kind === "file") copyOpened(file, target, count);
    });
    if (entry.kind === "link" && (outcome === undefined || outcome.reason === "not-a-file")) {
      diagnostics.push(...remakeLink(folder, source, target));
    } else if (outcome) {
      refuseLoss(source, entry, outcome);
      diagnostics.push(...reportLeftOut(source, entry, outcome));
    }
  }
  return diagnostics;
}

/** A skill's links that lead out of its folder. */
export function findEscapingLinks(folder: string, maxEntries: number): readonly string[] {
  return listSkill(folder, maxEntries)
    .filter(({ path, kind }) => {
      if (kind !== "link") return false;
      const outcome = withContained(openContained(folder, path), () => undefined);
      return outcome?.reason === "outside";
    })
    .map(({ path }) => join(folder, path));
}

function listSkill(folder: string, maxEntries: number): readonly ListedFile[] {
  const listing = listFiles(folder, maxEntries);
  if (listing.ok) return listing.files;
  const reason = listing.fault === "too-many" ? "too-large" : "failed";
  const message = `The files of ${showPath(folder)} cannot be listed: ${listing.detail}.`;
  throw new SkillMountError(listing.path, reason, message);
}

/** A skill without one of its files is not the skill. */
function refuseLoss(source: string, { kind }: ListedFile, { reason, message }: ContainedFault): void {
  if (kind !== "file" || (reason !== "denied" && reason !== "missing")) return;
  throw new SkillMountError(source, "failed", `${showPath(source)} cannot be copied: ${message}`);
}

const CHUNK = 65_536;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Writes a new file from an open one, with its permissions. */
export function copyOpened(
  { descriptor, stats, realPath }: ContainedFile,
  target: string,
  count: CopyCount,
): void {
  const output = openSync(target, CREATE, 0o600);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    let fileBytes = 0;
    for (let size = readSync(descriptor, chunk); size > 0; size = readSync(descriptor, chunk)) {
      fileBytes += size;
      spend(count, size, fileBytes, realPath);
      writeFileSync(output, chunk.subarray(0, size));
    }
    fchmodSync(output, Number(stats.mode) & 0o777);
  } finally {
    closeSync(output);
  }
}

export function spend(count: CopyCount, bytes: number, fileBytes: number, path: string): void {
  count.skillBytes += bytes;
  count.totalBytes += bytes;
  const { limits } = count;
  const refuse = (what: string, limit: number, key: keyof MountLimits): never => {
    throw new SkillMountError(path, "too-large", `${what} more than the allowed ${limit} bytes.`, {
      hint: `Raise \`limits.${key}\` if the skill should be that large.`,
    });
  };
  if (fileBytes > limits.fileBytes) refuse(`${showPath(path)} has`, limits.fileBytes, "fileBytes");
  if (count.skillBytes > limits.skillBytes) {
    refuse(`With ${showPath(path)}, its skill has`, limits.skillBytes, "skillBytes");
  }
  if (count.totalBytes > limits.totalBytes) {
    refuse(`With ${showPath(path)}, the skills have`, limits.totalBytes, "totalBytes");
  }
}

/** Relative, so that it points to the copy; left out if its target was not copied. */
function remakeLink(folder: string, source: string, target: string): readonly Diagnostic[] {
  const real = realpathSync.native(source);
  if (!isInside(real, folder)) return [];
  const leadsTo = relative(dirname(source), real) || ".";
  if (existsSync(join(dirname(target), leadsTo))) {
    symlinkSync(leadsTo, target);
    return [];
  }
  const message = `It was left out: it points to ${showPath(leadsTo)}, which is an empty folder or not a file.`;
  return [{ code: "link.dangling", severity: "warning", path: source, message }];
}

export interface ClaimedTarget {
  /** Absolute, links resolved. */
  readonly path: string;
  /** Relative to the workspace, with `/` between segments. */
  readonly mountPath: string;
  /** Whether the path still leads to the claimed folder. */
  isInPlace(): boolean;
  /** Removes the marker, and the created folders if they are otherwise empty. */
  release(): void;
}

const MARKER = ".metier-mount";

/** `target` is relative to `workspace` and stays in it. Throws `SkillMountError`. */
export function claimTarget(workspace: string, target: string): ClaimedTarget {
  const checked = checkContainedPath(target);
  if (!checked.ok) {
    const hint = "Name a folder inside the workspace, such as `skills`.";
    const message = `The mount path is refused: ${checked.message}`;
    throw new SkillMountError(String(target), checked.reason, message, { hint });
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
    const message = `The mount path ${showPath(path)} cannot be created: ${(error as Error).message}.`;
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
  const message = `The workspace ${showPath(workspace)} is not a usable folder.`;
  throw new SkillMountError(workspace, "missing", message, { cause });
}

/** Creates a folder, or finds it. Returns whether it was created. */
function enterFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (cause) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return false;
    const shown = showPath(path);
    if (found?.isSymbolicLink()) {
      const message = `The mount path is refused: ${shown} is a link, which may point outside the workspace.`;
      throw new SkillMountError(path, "outside", message);
    }
    if (found) throw new SkillMountError(path, "taken", `${shown} already exists and is not a folder.`);
    throw cause;
  }
}

function claim(path: string, marker: string): void {
  try {
    writeFileSync(marker, "Skills are mounted here; Metier removes them and this file.\n", { flag: "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new SkillMountError(path, "taken", `Skills are already mounted at ${showPath(path)}.`, {
      hint: `Clean up the first mount, or choose another path. If the program that made it has exited, delete \`${marker}\`.`,
    });
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Someone added something or removed it: then it is no longer ours.
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
}
