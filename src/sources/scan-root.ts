/**
 * The search for skills below one root: bounded, deterministic, and never silent about what it leaves out.
 * Finds places; reads no skill file.
 */
import { type Stats, statSync } from "node:fs";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import { candidateForFile, formOfFile } from "./candidate.ts";
import { type ListFolder, readFolderListing } from "./folder-listing.ts";
import { type FoundSkill, newScan, type Scan, type ScanOutcome } from "./scan.ts";
import { SCAN_LIMITS, type ScanLimits } from "./scan-limits.ts";
import { searchFolder } from "./search-folder.ts";
import type { SkillRoot } from "./skill-root.ts";

export interface ScanResult {
  readonly outcome: ScanOutcome;
  readonly found: readonly FoundSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface ScanOptions {
  /** Real paths of the roots in use: a link may lead into any of them, and nowhere else. */
  readonly knownRoots: readonly string[];
  readonly nested: boolean;
  readonly limits?: ScanLimits;
  readonly listFolder?: ListFolder;
}

export function scanRoot(root: SkillRoot, options: ScanOptions): ScanResult {
  const realRoot = realPathOr(root.path);
  const scan = newScan({
    realRoot,
    knownRoots: [...options.knownRoots, realRoot],
    nested: options.nested,
    limits: options.limits ?? SCAN_LIMITS,
    listFolder: options.listFolder ?? readFolderListing,
  });
  const outcome = searchRoot(scan, root);
  return {
    outcome,
    found: root.locked ? ownSkill(scan.found, root) : scan.found,
    diagnostics: scan.diagnostics,
  };
}

/** What else lies in an installed skill's folder is its content; without a skill file it is no skill. */
function ownSkill(found: readonly FoundSkill[], { path }: SkillRoot): readonly FoundSkill[] {
  return found.filter(({ candidate }) => candidate.directory === path).slice(0, 1);
}

/** Whether a project's skills folder is a link that leads out of the project. */
export function leavesProject(root: SkillRoot, realRoot: string): boolean {
  return root.scope === "project" && !isInside(realRoot, realPathOr(root.grantFolder));
}

function searchRoot(scan: Scan, root: SkillRoot): ScanOutcome {
  const { path } = root;
  const stats = statOrReason(path);
  if (stats === "missing") {
    if (root.explicit) {
      scan.report(
        "source.missing",
        "error",
        path,
        `The skills path \`${path}\` does not exist.`,
        "Correct the path, or remove it from `--path` or `skills.paths`.",
      );
    }
    return "missing";
  }
  if (stats === "unreadable") {
    scan.report(
      "source.unreadable",
      "error",
      path,
      `The skills path \`${path}\` may not be read.`,
      "Check its permissions and those of the folders above it.",
    );
    return "unreadable";
  }
  // A project's skills folder is the project's own word; as a link it may not point the search somewhere else.
  if (leavesProject(root, scan.realRoot)) {
    scan.report(
      "link.escapes",
      "error",
      path,
      `The skills folder \`${path}\` is a link out of the project, to \`${scan.realRoot}\`; it is not searched.`,
      "Name the target in `skills.paths` of your own config if you want its skills.",
    );
    return "link-escapes";
  }
  if (stats.isDirectory()) {
    return searchFolder(scan, { path, real: scan.realRoot, depth: 0, explicit: root.explicit });
  }
  return stats.isFile() ? searchFile(scan, root) : notADirectory(scan, root);
}

/** A root may be a skill file when it was asked for by name. */
function searchFile(scan: Scan, root: SkillRoot): ScanOutcome {
  const form = formOfFile(root.path);
  if (!root.explicit || form === undefined) return notADirectory(scan, root);
  scan.found.push({ candidate: candidateForFile(root.path, form), realFile: scan.realRoot });
  return "searched";
}

function notADirectory(scan: Scan, { path, explicit }: SkillRoot): ScanOutcome {
  scan.report(
    "source.not-a-directory",
    explicit ? "error" : "warning",
    path,
    `The skills path \`${path}\` is not a folder${explicit ? ", nor a `.md`, `.yaml` or `.yml` file" : ""}.`,
    "A skills path is a folder of skill folders; move the file, or name a folder.",
  );
  return "not-a-directory";
}

function statOrReason(path: string): Stats | "missing" | "unreadable" {
  try {
    return statSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "missing" : "unreadable";
  }
}
