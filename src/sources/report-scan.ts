/** What a search says about the places it does not use, in one file so that it says everything alike. */
import { join } from "node:path";
import type { Scan } from "./scan.ts";

export function reportNested(scan: Scan, file: string, parentSkill: string): void {
  scan.report(
    "scan.nested-skill",
    "info",
    file,
    `\`${file}\` lies below the skill \`${parentSkill}\` and is part of its content.`,
    "Set `skills.nested = true` to treat it as a skill of its own, or move it out.",
  );
}

export function reportIgnored(scan: Scan, file: string): void {
  scan.report(
    "scan.ignored",
    "info",
    file,
    `A \`.gitignore\` hides \`${file}\`; it is not used.`,
    "Name its folder with `--path` to use it all the same.",
  );
}

export function reportDangling(scan: Scan, link: string): void {
  scan.report(
    "link.dangling",
    "warning",
    link,
    `The link \`${link}\` leads nowhere.`,
    "Remove the link, or restore what it pointed to.",
  );
}

export function reportEscape(scan: Scan, link: string, target: string): void {
  scan.report(
    "link.escapes",
    "error",
    link,
    `The link \`${link}\` leads out of every skills folder, to \`${target}\`; it is not followed.`,
    "Copy the skill here, or name the folder it is in under `skills.paths`.",
  );
}

export function reportSkillFileInRoot(scan: Scan, root: string, file: string): void {
  scan.report(
    "scan.skill-file-in-root",
    "warning",
    file,
    `\`${file}\` stands in a skills folder, not in a folder of its own; it is not used.`,
    `Move it to \`${join(root, "<name>", "SKILL.md")}\`.`,
  );
}

export function reportSecondFile(scan: Scan, file: string, used: string): void {
  scan.report(
    "scan.second-skill-file",
    "warning",
    file,
    `\`${file}\` stands beside \`${used}\`, which is the one that is read.`,
    "Keep one skill file per folder.",
  );
}

export function reportSpecialFile(scan: Scan, file: string): void {
  scan.report(
    "scan.special-file",
    "warning",
    file,
    `\`${file}\` is not a regular file and is not read.`,
    "Replace it by a regular file.",
  );
}

export function reportUnlistable(scan: Scan, folder: string, top: boolean, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  scan.report(
    "source.unreadable",
    top ? "error" : "warning",
    folder,
    `\`${folder}\` cannot be listed: ${reason}`,
    "Check its permissions; what lies below it was not searched.",
  );
}

/** Once a root: everything at that depth is left out alike. */
export function reportDepth(scan: Scan, folder: string): void {
  if (scan.bitten.has("depth")) return;
  scan.bitten.add("depth");
  scan.report(
    "scan.depth-limit",
    "info",
    folder,
    `\`${folder}\` lies more than ${scan.limits.depth} folders below \`${scan.realRoot}\`; folders that deep were not searched.`,
    "Point `--path` at a folder further down if skills are there.",
  );
}

/** Once a place: that the rest of it was not searched. */
export function reportEntryLimit(scan: Scan, path: string, limit: number): void {
  if (scan.bitten.has(path)) return;
  scan.bitten.add(path);
  scan.report(
    "scan.entry-limit",
    "warning",
    path,
    `More than ${limit} files and folders lie below \`${path}\`; the rest was not searched.`,
    "Point `skills.paths` or `--path` at smaller folders.",
  );
}
