/** Copies of installed skills, and links to them, in the folders that were read: left out, because the skill is listed once. */

import { dirname } from "node:path";
import { type Diagnostic, hasErrors } from "@metier/base/diagnostic";
import type { RealPathOf } from "@metier/base/places";
import { forReader } from "@metier/base/text";
import { once } from "@metier/base/turns";
import { type InstalledSkills, mayHold, reportChanged } from "../sources/installed-skills.ts";
import type { RootContent, SoundSkill } from "./read-root.ts";

/**
 * An installed skill is listed once, however many copies and links are in other skills folders: as the installed one,
 * with the trust of its content. A modified copy is a separate skill. Nothing is said of those that a lock records there.
 */
export function settleInstalled(
  contents: readonly RootContent[],
  installed: InstalledSkills | undefined,
  realPathOf: RealPathOf,
): Pick<RootContent, "diagnostics"> & { readonly contents: readonly RootContent[] } {
  if (installed === undefined || installed.skills.length + installed.copies.length === 0) {
    return { contents, diagnostics: [] };
  }
  const diagnostics: Diagnostic[] = contents.flatMap(reportEmpty);
  const listed = new Map(contents.flatMap(lockedFolders));
  const listedDigests = new Set(listed.values());
  const copies = once(() => new Map(installed.copies.map((copy) => [realPathOf(copy.folder), copy])));
  const places = once(() => recordedPlaces(contents, installed));
  const isKept = (skill: SoundSkill): boolean => {
    if (skill.candidate.form !== "directory") return true;
    const folder = folderOf(skill);
    const digest = listed.get(folder);
    const copy = digest === undefined ? copies().get(folder) : undefined;
    if (digest === undefined && copy === undefined) return true;
    if (copy && !mayHold(installed.digests.of(folder), copy.digests)) {
      diagnostics.push(reportChanged(copy.folder, copy.name));
      return true;
    }
    const recorded = places().get(skill.candidate.directory) ?? [];
    const isRecorded =
      digest === undefined ? recorded.some((one) => listedDigests.has(one)) : recorded.includes(digest);
    if (!isRecorded) diagnostics.push(reportCopy(skill));
    return false;
  };
  const settled = contents.map((content) => {
    if (content.root.locked) return content;
    const skills = content.skills.filter(isKept);
    return skills.length === content.skills.length ? content : { ...content, skills };
  });
  return { contents: settled, diagnostics };
}

/** With what the lock says that they contain. */
function lockedFolders({
  root: { locked },
  skills,
}: RootContent): readonly (readonly [folder: string, digest: string])[] {
  return locked === undefined ? [] : skills.map((skill) => [folderOf(skill), locked.digest] as const);
}

/** What the locks say is in each folder: the installed skills themselves, such as a project's own copies, and their copies. */
function recordedPlaces(
  contents: readonly RootContent[],
  { copies }: InstalledSkills,
): ReadonlyMap<string, readonly string[]> {
  const own = contents.flatMap(({ root: { path, locked } }) =>
    locked ? [[path, [locked.digest]] as const] : [],
  );
  return new Map([...own, ...copies.map(({ folder, digests }) => [folder, digests] as const)]);
}

/** Of the skill that is really there. */
function folderOf({ realFile }: SoundSkill): string {
  return dirname(realFile);
}

function reportCopy({ candidate, manifest }: SoundSkill): Diagnostic {
  return {
    code: "catalog.same-skill-twice",
    severity: "info",
    path: candidate.file,
    line: 1,
    message: `\`${candidate.file}\` is a copy of the installed skill \`${manifest.name}\`, which is listed once.`,
  };
}

function reportEmpty({ root, skills, diagnostics }: RootContent): readonly Diagnostic[] {
  if (!root.locked || skills.length > 0 || hasErrors(diagnostics)) return [];
  return [
    {
      code: "scan.no-skill",
      severity: "error",
      path: root.path,
      message: `\`${root.path}\`, which \`${root.locked.lock}\` records, contains no skill.`,
      hint: forReader({
        command: "Restore it with `metier install`; see the differences with `metier verify`.",
        program: "Restore it with `install()`; see the differences with `verify()`.",
      }),
    },
  ];
}
