/**
 * An installed skill is listed once, however many of its copies and links are found in other skills folders: as the
 * installed one, with the trust of its content. A copy that someone changed is a skill of its own.
 */
import { dirname } from "node:path";
import { type Diagnostic, hasErrors } from "../foundation/diagnostic.ts";
import { realPathOr } from "../host/project-folders.ts";
import { type InstalledSkills, mayHold, reportChanged } from "../sources/installed-skills.ts";
import type { LoadedSkill, RootContent } from "./read-root.ts";

export interface SettledContents {
  readonly contents: readonly RootContent[];
  readonly diagnostics: readonly Diagnostic[];
}

export function settleInstalled(
  contents: readonly RootContent[],
  installed: InstalledSkills | undefined,
): SettledContents {
  if (installed === undefined || installed.skills.length + installed.copies.length === 0) {
    return { contents, diagnostics: [] };
  }
  const diagnostics: Diagnostic[] = contents.flatMap(reportEmpty);
  const folders = new Set(contents.flatMap(({ root, skills }) => (root.locked ? skills.map(folderOf) : [])));
  const copies = new Map(installed.copies.map((copy) => [realPathOr(copy.folder), copy]));
  const isKept = (skill: LoadedSkill): boolean => {
    if (skill.candidate.form !== "directory") return true;
    const folder = folderOf(skill);
    const copy = copies.get(folder);
    const isInstalled = folders.has(folder);
    if (!isInstalled && copy === undefined) return true;
    if (!isInstalled && copy && !mayHold(installed.digests.of(folder), copy.digests)) {
      diagnostics.push(reportChanged(copy.folder, copy.name));
      return true;
    }
    diagnostics.push(reportCopy(skill));
    return false;
  };
  const settled = contents.map((content) => {
    if (content.root.locked) return content;
    const skills = content.skills.filter(isKept);
    return skills.length === content.skills.length ? content : { ...content, skills };
  });
  return { contents: settled, diagnostics };
}

/** Of the skill that really lies there. */
function folderOf({ realFile }: LoadedSkill): string {
  return dirname(realFile);
}

function reportCopy({ candidate, manifest }: LoadedSkill): Diagnostic {
  return {
    code: "catalog.same-skill-twice",
    severity: "info",
    path: candidate.file,
    line: 1,
    message: `\`${candidate.file}\` is the installed skill \`${manifest.name}\`, which stands in the list once, as that.`,
  };
}

function reportEmpty({ root, skills, diagnostics }: RootContent): readonly Diagnostic[] {
  if (!root.locked || skills.length > 0 || hasErrors(diagnostics)) return [];
  return [
    {
      code: "scan.no-skill",
      severity: "error",
      path: root.path,
      message: `\`${root.path}\`, which \`${root.locked.lock}\` records, holds no skill.`,
      hint: "`metier install` restores it, `metier verify` shows what differs.",
    },
  ];
}
