/**
 * Everything below one root: searched, read, checked. What cannot be loaded becomes diagnostics, and of a skill that is
 * installed, its copies and links are left out.
 */

import type { BigIntStats } from "node:fs";
import { dirname } from "node:path";
import { type Diagnostic, type DiagnosticCode, hasErrors } from "@metier/base/diagnostic";
import { type BoundedRead, readBounded } from "@metier/base/files";
import { realPathOr } from "@metier/base/places";
import { forReader } from "@metier/base/text";
import { parseSkill } from "../parse/parse-skill.ts";
import { type SkillManifest, withAlias } from "../skill/manifest.ts";
import type { BodyFacts, CheckedSkill, ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import { type InstalledSkills, mayHold, reportChanged } from "../sources/installed-skills.ts";
import type { FoundCandidate, RootOutcome } from "../sources/search.ts";
import { searchSteps } from "../sources/search-root.ts";
import type { SkillRoot } from "../sources/skill-roots.ts";
import { type Profile, severityIn } from "../validate/profiles.ts";
import { validateSkill } from "../validate/validate-skill.ts";
import type { SkillIndex } from "./skill-index.ts";

export interface RootContent {
  readonly root: SkillRoot;
  readonly outcome: RootOutcome;
  readonly skills: readonly SoundSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A skill that can be loaded: sound enough under the profile. */
export interface SoundSkill {
  readonly candidate: SkillCandidate;
  /** Real path of the skill file; for a skill given as an object its location, which is `""`. */
  readonly realFile: string;
  readonly manifest: SkillManifest;
  readonly body: BodyFacts;
  readonly diagnostics: readonly Diagnostic[];
}

interface ReadRootOptions {
  readonly profile: Profile;
  readonly nested: boolean;
  readonly knownRoots: readonly string[];
  readonly index?: SkillIndex | undefined;
}

/** Between batches of this many files the event loop gets its turn: a server may be waiting. */
const BATCH = 512;

/** Reads the skills of a folder at the top right after it was searched, so that one after the other is done with. */
export async function readRoot(root: SkillRoot, options: ReadRootOptions): Promise<RootContent> {
  const { nested, knownRoots, index } = options;
  const refind = (): readonly string[] | undefined => index?.refind(nested);
  const steps = searchSteps(root, { knownRoots, nested, listFolder: index?.listFolder, refind });
  const skills: SoundSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  let number = 0;
  let step = steps.next();
  for (;;) {
    const found = step.done ? step.value.found : step.value;
    for (; number < found.length; number++) {
      if (number % BATCH === BATCH - 1) await new Promise((resolve) => setImmediate(resolve));
      const place = found[number] as FoundCandidate;
      const result = readFound(place, options);
      addSkill(root, place, result instanceof Promise ? await result : result, skills, diagnostics);
    }
    if (step.done) break;
    step = steps.next();
  }
  const { outcome, found, diagnostics: ofSearch } = step.value;
  const isPlain = ofSearch.length === 0 && found.every(({ candidate }) => isInFolder(candidate, root.path));
  index?.save(isPlain ? { found: found.length, nested } : undefined);
  return { root, outcome, skills, diagnostics: [...ofSearch, ...diagnostics] };
}

/** From the index where nothing changed. */
function readFound(
  { candidate }: FoundCandidate,
  { profile, index }: ReadRootOptions,
): CheckedSkill | Promise<CheckedSkill> {
  const recalled = index?.recall(candidate.file);
  if (recalled !== undefined) return recalled;
  const keep = ({ checked, stats }: ReadSkill): CheckedSkill => {
    if (stats) index?.keep(candidate.file, stats, checked);
    return checked;
  };
  const read = readSkill(candidate, profile);
  return read instanceof Promise ? read.then(keep) : keep(read);
}

function addSkill(
  root: SkillRoot,
  { candidate, realFile }: FoundCandidate,
  checked: CheckedSkill,
  skills: SoundSkill[],
  diagnostics: Diagnostic[],
): void {
  if (isNoSkill(candidate, root.path, checked)) return;
  const { manifest, body, diagnostics: ofSkill } = checked;
  if (ofSkill.length > 0) diagnostics.push(...ofSkill);
  if (manifest === undefined) return;
  const named = withAlias(manifest, root.locked?.alias);
  skills.push({ candidate, realFile, manifest: named, body, diagnostics: ofSkill });
}

function isInFolder({ form, directory }: SkillCandidate, root: string): boolean {
  return form === "directory" && directory !== root;
}

/** A flat file that nothing marks as a skill (a README, a build file) is none, unless it was asked for by name. */
export function isNoSkill(
  { form, file }: SkillCandidate,
  asked: string,
  { diagnostics, body }: CheckedSkill,
): boolean {
  if (form === "directory" || file === asked) return false;
  const has = (code: DiagnosticCode): boolean => diagnostics.some((entry) => entry.code === code);
  if (has("frontmatter.missing")) return true;
  const isMarked =
    !has("name.missing") || !has("description.missing") || (form === "yaml" && body.characters > 0);
  return !isMarked;
}

/** Larger than any skill file; anything above is not read. */
export const MAX_SKILL_BYTES: number = 4 * 1024 * 1024;

interface ReadSkill {
  readonly checked: CheckedSkill;
  /** Of the opened file; absent when it could not be opened. */
  readonly stats?: BigIntStats;
}

/**
 * One candidate from disk to a checked skill: reads the whole file once and keeps none of its body. At once where the
 * parser can; `await` takes both. Thousands of promises would cost more than the reading. `check` is `validateSkill` to
 * load, `inspectSkill` to tell an author everything.
 */
export function readSkill(
  candidate: SkillCandidate,
  profile: Profile,
  check: typeof validateSkill = validateSkill,
): ReadSkill | Promise<ReadSkill> {
  const read = readBounded(candidate.file, MAX_SKILL_BYTES);
  if (!read.ok) return { checked: unreadable(candidate.file, read) };
  const finish = (parsed: ParsedSkill): ReadSkill => {
    const checked = check(parsed, profile);
    const { notUtf8, stats } = read;
    return { checked: notUtf8 ? withEncodingNote(checked, candidate.file, profile) : checked, stats };
  };
  const parsed = parseSkill(candidate, read.text);
  return parsed instanceof Promise ? parsed.then(finish) : finish(parsed);
}

function unreadable(path: string, fault: Extract<BoundedRead, { ok: false }>): CheckedSkill {
  const { reason, message, size } = fault;
  const [code, text, hint] =
    reason === "too-large"
      ? ([
          "file.too-large",
          `The file has ${size ?? "too many"} bytes; a skill file may have ${MAX_SKILL_BYTES}.`,
          "Move long material to files of its own in the skill's folder.",
        ] as const)
      : (["file.unreadable", message, "Check that it is a regular file and its permissions."] as const);
  const diagnostic: Diagnostic = { code, severity: "error", path, line: 1, message: text, hint };
  return { diagnostics: [diagnostic], valid: false, body: { lines: 0, characters: 0 } };
}

function withEncodingNote(checked: CheckedSkill, path: string, profile: Profile): CheckedSkill {
  const severity = severityIn(profile, "file.not-utf8");
  if (severity === "off") return checked;
  const diagnostic: Diagnostic = {
    code: "file.not-utf8",
    severity,
    path,
    line: 1,
    message: "The file is not UTF-8; what could not be read was replaced.",
    hint: "Save it as UTF-8.",
  };
  const valid = checked.valid && severity !== "error";
  const diagnostics = [...checked.diagnostics, diagnostic];
  if (valid || profile !== "strict") return { ...checked, valid, diagnostics };
  return { ...checked, manifest: undefined, valid, diagnostics }; // `strict` loads only what is valid.
}

/**
 * An installed skill is listed once, however many of its copies and links are found in other skills folders: as the
 * installed one, with the trust of its content. A copy that someone changed is a skill of its own.
 */
export function settleInstalled(
  contents: readonly RootContent[],
  installed: InstalledSkills | undefined,
): Pick<RootContent, "diagnostics"> & { readonly contents: readonly RootContent[] } {
  if (installed === undefined || installed.skills.length + installed.copies.length === 0) {
    return { contents, diagnostics: [] };
  }
  const diagnostics: Diagnostic[] = contents.flatMap(reportEmpty);
  const folders = new Set(contents.flatMap(({ root, skills }) => (root.locked ? skills.map(folderOf) : [])));
  const copies = new Map(installed.copies.map((copy) => [realPathOr(copy.folder), copy]));
  const isKept = (skill: SoundSkill): boolean => {
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
function folderOf({ realFile }: SoundSkill): string {
  return dirname(realFile);
}

function reportCopy({ candidate, manifest }: SoundSkill): Diagnostic {
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
      hint: forReader({
        command: "`metier install` restores it, `metier verify` shows what differs.",
        program: "`install()` restores it, `verify()` shows what differs.",
      }),
    },
  ];
}
