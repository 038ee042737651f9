/**
 * A copy of a skill in a folder that nobody else writes to, without what is left out. What is checked, scanned, identified
 * and packed is this copy, so that all of them speak of the same bytes. Throws `RefusedTree`.
 */
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareText, type Diagnostic } from "../foundation/diagnostic.ts";
import { showPath } from "../host/contained-path.ts";
import { listFiles } from "../host/list-files.ts";
import { realPathOr } from "../host/project-folders.ts";
import { removeFolder } from "../host/remove-folder.ts";
import { copyFolder } from "../install/local/copy-folder.ts";
import { RefusedTree } from "../install/refused-tree.ts";
import type { SkillCandidate } from "../skill/skill.ts";
import type { TarEntry } from "./archive/write-tar.ts";
import { type LeftOut, reasonToLeaveOut } from "./left-out.ts";
import { PUBLISH_LIMITS } from "./publish-limits.ts";

export const SKILL_FILE = "SKILL.md";

export interface StagedSkill {
  readonly folder: string;
  /** Sorted by path. */
  readonly leftOut: readonly LeftOut[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A folder for staged skills that is gone afterwards. */
export async function withStage<Value>(use: (stage: string) => Promise<Value>): Promise<Value> {
  const stage = mkdtempSync(join(tmpdir(), "metier-publish-"));
  try {
    return await use(stage);
  } finally {
    removeFolder(stage);
  }
}

/** `place`: an empty folder for this skill alone; it gets a folder of the skill's own name, which is part of the check. */
export async function stageSkill(candidate: SkillCandidate, place: string): Promise<StagedSkill> {
  const folder = join(place, candidate.defaultName);
  mkdirSync(folder, { recursive: true });
  const leftOut = new Map<string, string>();
  const leaveOut = (path: string, isFolder: boolean): boolean => {
    const reason = reasonToLeaveOut(path, isFolder);
    if (reason !== undefined) leftOut.set(isFolder ? `${path}/` : path, reason);
    return reason !== undefined;
  };
  const limits = PUBLISH_LIMITS;
  const diagnostics = await copyFolder(realPathOr(candidate.directory), folder, { limits, leaveOut });
  requireSkillFile(folder);
  return {
    folder,
    leftOut: [...leftOut]
      .map(([path, reason]) => ({ path, reason }))
      .sort((a, b) => compareText(a.path, b.path)),
    diagnostics,
  };
}

function requireSkillFile(folder: string): void {
  const found = lstatSync(join(folder, SKILL_FILE), { throwIfNoEntry: false });
  if (found?.isFile()) return;
  const how = found === undefined ? "Its skill file has another name" : "Its skill file is a link";
  throw new RefusedTree("source.unsafe", `${how}; other clients look for a plain file \`${SKILL_FILE}\`.`);
}

/** The staged files for an archive, by path. A link that leads to nothing that is published is refused. */
export function readStaged(folder: string): readonly TarEntry[] {
  const listing = listFiles(folder, PUBLISH_LIMITS.files * 4);
  if (!listing.ok) throw new RefusedTree("source.failed", `It cannot be listed: ${listing.detail}.`);
  return listing.files.map(({ path, kind }): TarEntry => {
    const file = join(folder, path);
    if (kind !== "link") {
      const executable = (lstatSync(file).mode & 0o111) !== 0;
      return { kind: "file", path, executable, bytes: readFileSync(file) };
    }
    const target = readlinkSync(file);
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) return { kind: "link", path, target };
    throw new RefusedTree(
      "source.unsafe",
      `${showPath(path)} is a link to ${showPath(target)}, and nothing of that name is published.`,
    );
  });
}
