/**
 * Looks over all files of a skill by the rules, and whatever skills lie at some paths. Nothing of a skill is executed,
 * imported or fetched; what could not be looked at is named. The same files give the same report, in the same order.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { cleanLine, takeOutInvisible } from "@metier/base/text";
import {
  isNoSkill,
  parseSkill,
  readSkill,
  type SkillCandidate,
  shorten,
  validateSkill,
  visitPaths,
} from "@metier/skills";
import { identifyContent, type SkillContent } from "@metier/skills/trust";
import { analyseCode } from "./code/analyse-code.ts";
import { findCode } from "./find-code.ts";
import { loadMarkdown, takeAsProse } from "./markdown.ts";
import { isMarkdown, readSkillFiles } from "./read-files.ts";
import { scanRules } from "./rules.ts";
import {
  compareFindings,
  type Finding,
  fingerprintOf,
  type Hit,
  isAtLeast,
  SCAN_LIMITS,
  type ScanLimits,
  type ScannedDocument,
  type ScannedFile,
  type ScannedSkill,
  type ScanRule,
  type SkippedPart,
} from "./scanned-skill.ts";

interface ScanSkillOptions {
  /** What the catalog calls it; otherwise its own name. */
  readonly name?: string;
  /** Names of other skills that this one could be mistaken for. */
  readonly knownNames?: readonly string[];
  /** Rules that are not applied, by id. */
  readonly ignore?: readonly string[];
  readonly limits?: Partial<ScanLimits>;
  /** `false`: the content identity is known, or not asked for, and no file is read a second time for it. */
  readonly identify?: boolean;
}

/** What the scan of one skill found, and what it could not look at. */
export interface ScanReport {
  /** Name of the skill. */
  readonly name: string;
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** Number of files in the skill. */
  readonly files: number;
  /** Bytes of these files that were read. */
  readonly bytes: number;
  /** What was not looked at, or only in part, and why. */
  readonly skipped: readonly SkippedPart[];
  /** Content identity of what was scanned, `sha256:…`; absent when it cannot be covered whole, or is not asked for. */
  readonly digest?: string;
}

/** A folder, or a skill of a catalog. */
type ScanSubject = SkillContent | { readonly directory: string };

const SKILL_FILE = "SKILL.md";
const MOST_EVIDENCE = 160;

export async function scanSkill(subject: ScanSubject, options: ScanSkillOptions = {}): Promise<ScanReport> {
  const limits = { ...SCAN_LIMITS, ...options.limits };
  const content = toContent(subject);
  const { files, bytes, skipped } = readSkillFiles(content, limits);
  const skill = await readScannedSkill(content, { files, unread: skipped }, limits, options);
  const ignored = new Set(options.ignore);
  const applied = scanRules()
    .filter(({ id }) => !ignored.has(id))
    .map((rule) => applyRule(rule, skill, limits));
  const identity = options.identify === false ? undefined : identifyContent(content);
  return {
    name: skill.name,
    findings: applied.flatMap(({ findings }) => findings).toSorted(compareFindings),
    files: files.length,
    bytes,
    skipped: [...skill.unread, ...applied.flatMap(({ left }) => left)],
    ...(identity?.ok && { digest: identity.value.digest }),
  };
}

/** The skill file of a folder, also when it is written in another case. */
function toContent(subject: ScanSubject): SkillContent {
  if ("location" in subject) return subject;
  const { directory } = subject;
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const isThere = names.includes(SKILL_FILE);
  const name = isThere ? SKILL_FILE : (names.find((one) => one.toLowerCase() === "skill.md") ?? SKILL_FILE);
  return { form: "directory", directory, location: join(directory, name) };
}

async function readScannedSkill(
  content: SkillContent,
  { files, unread }: Pick<ScannedSkill, "files" | "unread">,
  limits: ScanLimits,
  options: ScanSkillOptions,
): Promise<ScannedSkill> {
  const { form, location: file, directory } = content;
  const skillFile = basename(file);
  const own = files.find(({ path }) => path === skillFile);
  const defaultName = basename(form === "directory" ? directory : file);
  const candidate: SkillCandidate = { form, file, directory, defaultName };
  const parsed = own?.text === undefined ? undefined : await parseSkill(candidate, own.text);
  const manifest = parsed && validateSkill(parsed, "lenient").manifest;
  const { documents, left } = await readDocuments(files, skillFile, limits);
  const found = await findCode({ files, documents, parsed, manifest, skillFile }, limits);
  const analysed = await analyseCode(found.parts, limits);
  return {
    name: options.name ?? manifest?.name ?? basename(content.directory),
    knownNames: options.knownNames ?? [],
    skillFile,
    files,
    unread: [...unread, ...left, ...found.skipped, ...analysed.skipped],
    documents,
    parsed,
    manifest,
    acts: analysed.acts,
  };
}

/**
 * Documents are what a person or a model reads: Markdown, plain text, and the skill file whatever its form. `left` are those
 * that are only read as prose.
 */
async function readDocuments(
  files: readonly ScannedFile[],
  skillFile: string,
  limits: ScanLimits,
): Promise<{ readonly documents: readonly ScannedDocument[]; readonly left: readonly SkippedPart[] }> {
  const takeApart = await loadMarkdown(limits);
  const left: SkippedPart[] = [];
  const documents = files.flatMap((file): readonly ScannedDocument[] => {
    const { path, text, language } = file;
    if (text === undefined || language !== undefined) return [];
    const isRead = isMarkdown(path) || path === skillFile || PLAIN_TEXT.test(path);
    if (!isRead) return [];
    const visible = takeOutInvisible(text).text;
    const parts = takeApart(visible);
    const reason = `Only read as prose: the documents have more than ${limits.blocks} paragraphs and list items.`;
    if (parts === undefined) left.push({ path, reason });
    return [{ file: { ...file, text }, parts: parts ?? takeAsProse(visible) }];
  });
  return { documents, left };
}

const PLAIN_TEXT = /\.(?:txt|rst|adoc|html?|prompt|tmpl)$|(?:^|\/)(?:README|LICENSE|NOTICE)$/i;

interface AppliedRule {
  readonly findings: readonly Finding[];
  /** Files in which it applies more often than is listed. */
  readonly left: readonly SkippedPart[];
}

/** Of the same thing in one place, and of too many in one file, the worst are listed: milder ones hide nothing. */
function applyRule(rule: ScanRule, skill: ScannedSkill, { hitsPerFile }: ScanLimits): AppliedRule {
  const found = [...rule.find(skill)].map((hit) => toFinding(rule, hit)).sort(compareFindings);
  const seen = new Set<string>();
  const unique = found.filter(({ fingerprint, line }) => {
    const key = `${fingerprint} ${line}`;
    return !seen.has(key) && seen.add(key);
  });
  const byFile = [...Map.groupBy(unique, ({ path }) => path)];
  return {
    findings: byFile.flatMap(([, findings]) => findings.slice(0, hitsPerFile)),
    left: byFile
      .filter(([, findings]) => findings.length > hitsPerFile)
      .map(([path, { length }]) => ({
        path,
        reason: `Not listed: \`${rule.id}\` applies ${length} times, and ${hitsPerFile} are shown.`,
      })),
  };
}

function toFinding(
  rule: ScanRule,
  { path, line, column, seen, shown, detail, severity = rule.severity }: Hit,
): Finding {
  const told = detail === undefined ? "" : `: ${shorten(cleanLine(detail), MOST_EVIDENCE)}`;
  return {
    id: rule.id,
    severity: isAtLeast(severity, rule.severity) ? rule.severity : severity,
    path,
    line,
    ...(column !== undefined && { column }),
    message: `${rule.title}${told}.`,
    evidence: shorten(cleanLine(shown ?? seen), MOST_EVIDENCE),
    fingerprint: fingerprintOf(rule.id, path, seen),
  };
}

/** The scan of one skill, and where the skill is. */
export interface ScannedPath extends ScanReport {
  /** The skill file, absolute. */
  readonly location: string;
  /** The skill's folder, absolute. */
  readonly directory: string;
  /** A lock lists it, and every version of it has another folder. */
  readonly isInstalled?: true;
}

/** The scans of all skills found at some paths. */
export interface PathsReport {
  /** One report for each skill that was found. */
  readonly skills: readonly ScannedPath[];
  /** About the paths themselves: missing, unreadable, without a skill. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Paths are absolute. A skill below another is scanned with it, and as one of its own. */
export async function scanPaths(
  paths: readonly string[],
  options: ScanSkillOptions = {},
  onSkill?: (done: number, total: number) => void,
): Promise<PathsReport> {
  // All of them are found first, so that whoever waits knows how many there are.
  const found = new Map<string, FoundSkill>();
  const note = async (candidate: SkillCandidate, path: string): Promise<boolean> => {
    const { checked } = await readSkill(candidate, "lenient");
    if (isNoSkill(candidate, path, checked)) return false;
    const name = checked.manifest?.name ?? candidate.defaultName;
    if (!found.has(candidate.file)) found.set(candidate.file, { candidate, name });
    return true;
  };
  const diagnostics = await visitPaths(paths, note, reportNoSkill);
  const skills: ScannedPath[] = [];
  for (const { candidate, name } of found.values()) {
    onSkill?.(skills.length, found.size);
    const { form, file: location, directory } = candidate;
    const report = await scanSkill({ form, location, directory }, { name, ...options });
    skills.push({ ...report, location, directory });
  }
  return { skills, diagnostics };
}

interface FoundSkill {
  readonly candidate: SkillCandidate;
  readonly name: string;
}

function reportNoSkill(path: string): Diagnostic {
  return {
    code: "scan.no-skill",
    severity: "error",
    path,
    message: `No skill was found in \`${path}\`.`,
    hint: "A skill is a folder with a `SKILL.md`; name one, or a folder of them.",
  };
}
