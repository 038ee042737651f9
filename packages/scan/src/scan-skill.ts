/**
 * Checks all files of a skill against the rules. Never executes, imports or fetches anything from the skill, and names
 * what it could not check. The same files give the same report, in the same order.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { presentFields } from "@metier/base/json";
import { cleanLine, takeOutInvisible } from "@metier/base/text";
import {
  parseSkill,
  readSkill,
  SKILL_FILE,
  type SkillCandidate,
  shorten,
  validateSkill,
} from "@metier/skills";
import { digestFiles, type IdentifiedFile, identifyContent, type SkillContent } from "@metier/skills/trust";
import { analyseCode } from "./code/analyse-code.ts";
import { isMarkdown } from "./file-types.ts";
import { findCode } from "./find-code.ts";
import { loadMarkdown, takeAsProse, takePlain } from "./markdown.ts";
import { type FilesInMemory, readSkillFiles, takeSkillFiles } from "./read-files.ts";
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

export interface ScanSkillOptions {
  /** Its name in the catalog; otherwise its own name. */
  readonly name?: string;
  /** Instead of `name`: uses its own name, as its finder reads it. */
  readonly candidate?: SkillCandidate;
  /** Names of other skills that this one could be mistaken for. */
  readonly knownNames?: readonly string[];
  /** Rules to ignore, by id. */
  readonly ignore?: readonly string[];
  readonly limits?: Partial<ScanLimits>;
  /** `false`: the content identity is known or not needed, and no file is read a second time for it. */
  readonly identify?: boolean;
}

/** Earlier results for the same content. */
export type RecallScan = (digest: string, content: SkillContent) => ScanReport | undefined;

/** What the scan of one skill found, and what it could not check. */
export interface ScanReport {
  /** Name of the skill. */
  readonly name: string;
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** Number of files in the skill. */
  readonly files: number;
  /** Bytes of these files that were read. */
  readonly bytes: number;
  /** What was skipped, or checked only in part, and why. */
  readonly skipped: readonly SkippedPart[];
  /** Content identity of what was scanned, `sha256:…`; absent if it cannot be computed, or is not requested. */
  readonly digest?: string;
}

/** A folder, or a skill in a catalog. */
type ScanSubject = SkillContent | { readonly directory: string; readonly given?: FilesInMemory | undefined };

const MOST_EVIDENCE = 160;

export async function scanSkill(
  subject: ScanSubject,
  options: ScanSkillOptions = {},
  recall?: RecallScan,
): Promise<ScanReport> {
  const limits = { ...SCAN_LIMITS, ...options.limits };
  const content = toContent(subject);
  const isIdentified = options.identify !== false;
  const given = "given" in subject ? subject.given : undefined;
  const { files, bytes, skipped } = given
    ? takeSkillFiles(given, limits)
    : readSkillFiles(content, limits, isIdentified);
  const digest = isIdentified ? (given ? digestFiles(given.files) : identify(content, files)) : undefined;
  const known = digest === undefined ? undefined : recall?.(digest, content);
  if (known) return known;
  const skill = await readScannedSkill(content, { files, unread: skipped }, limits, options);
  const ignored = new Set(options.ignore);
  const findings: Finding[] = [];
  const left: SkippedPart[] = [];
  for (const rule of scanRules()) {
    const hits = ignored.has(rule.id) ? [] : [...rule.find(skill)];
    if (hits.length === 0) continue; // Most rules find nothing in most skills.
    const applied = listHits(rule, hits, limits);
    findings.push(...applied.findings);
    left.push(...applied.left);
  }
  return {
    name: skill.name,
    findings: findings.sort(compareFindings),
    files: files.length,
    bytes,
    skipped: [...skill.unread, ...left],
    ...(digest !== undefined && { digest }),
  };
}

/** From the scanned bytes, if all of them were read; otherwise the files are read again. */
function identify(content: SkillContent, files: readonly ScannedFile[]): string | undefined {
  const { form, directory, location } = content;
  const isWhole = form === "directory" && files.some(({ path }) => join(directory, path) === location);
  const read = files.flatMap(({ path, kind, size, executable, digest }): readonly IdentifiedFile[] =>
    kind === "file" && digest !== undefined ? [{ path, kind, size, executable, digest }] : [],
  );
  if (isWhole && read.length === files.length) return digestFiles(read);
  const identity = identifyContent(content);
  return identity.ok ? identity.value.digest : undefined;
}

/** One of many skills. */
export interface ScanJob {
  readonly subject: ScanSubject;
  /** Its name in the catalog. */
  readonly name?: string;
  /** Uses its own name, as read. */
  readonly candidate?: SkillCandidate;
}

/** `options` apply to all. */
export async function scanJob(
  { subject, name, candidate }: ScanJob,
  options: ScanSkillOptions,
  recall?: RecallScan,
): Promise<ScanReport> {
  return scanSkill(subject, { ...presentFields({ name, candidate }), ...options }, recall);
}

/** What every scan needs, prepared before there is anything to scan. */
export async function loadScan(): Promise<void> {
  await Promise.all([loadMarkdown(SCAN_LIMITS), import("unbash")]);
  scanRules();
}

/** A folder's skill file, in any letter case. */
export function toContent(subject: ScanSubject): SkillContent {
  if ("location" in subject) return subject;
  const { directory, given } = subject;
  const names = given?.files.map(({ path }) => path) ?? (existsSync(directory) ? readdirSync(directory) : []);
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
  const code = await findCode({ files, documents, parsed, manifest, skillFile }, limits);
  const analysed = await analyseCode(code.parts, limits);
  const isAsFound = own?.isVerbatim && options.candidate?.defaultName === defaultName;
  const found = isAsFound ? (manifest?.name ?? defaultName) : await nameOf(options.candidate);
  return {
    name: options.name ?? found ?? manifest?.name ?? basename(content.directory),
    knownNames: options.knownNames ?? [],
    skillFile,
    files,
    unread: [...unread, ...left, ...code.skipped, ...analysed.skipped],
    documents,
    parsed,
    manifest,
    acts: analysed.acts,
  };
}

/** If the scanned text is not the exact file, reads it again as everyone does. */
async function nameOf(candidate: SkillCandidate | undefined): Promise<string | undefined> {
  if (candidate === undefined) return undefined;
  const { checked } = await readSkill(candidate, "lenient");
  return checked.manifest?.name ?? candidate.defaultName;
}

/**
 * Documents are what a person or model reads: Markdown, plain text, and the skill file in any form. `left` are those
 * read only as prose.
 */
async function readDocuments(
  files: readonly ScannedFile[],
  skillFile: string,
  limits: ScanLimits,
): Promise<{ readonly documents: readonly ScannedDocument[]; readonly left: readonly SkippedPart[] }> {
  const takeApart = await loadMarkdown(limits);
  // A paragraph takes at least a character, so these cannot have too many, and nobody needs to count.
  const isShort = files.reduce((sum, { text = "" }) => sum + text.length + 2, 0) <= limits.blocks;
  const left: SkippedPart[] = [];
  const documents = files.flatMap((file): readonly ScannedDocument[] => {
    const { path, text, isAscii, language } = file;
    if (text === undefined || language !== undefined) return [];
    const isRead = isMarkdown(path) || path === skillFile || PLAIN_TEXT.test(path);
    if (!isRead) return [];
    const visible = isAscii ? text : takeOutInvisible(text).text;
    const parts = (isShort ? takePlain(visible) : undefined) ?? takeApart(visible);
    const reason = `Read only as prose: the documents have more than ${limits.blocks} paragraphs and list items.`;
    if (parts === undefined) left.push({ path, reason });
    return [{ file: { ...file, text }, parts: parts ?? takeAsProse(visible) }];
  });
  return { documents, left };
}

const PLAIN_TEXT = /\.(?:txt|rst|adoc|html?|prompt|tmpl)$|(?:^|\/)(?:README|LICENSE|NOTICE)$/i;

interface AppliedRule {
  readonly findings: readonly Finding[];
  /** Files where it applies more often than listed. */
  readonly left: readonly SkippedPart[];
}

/** For the same thing in one place, and for too many in one file, lists the worst, so that milder ones hide nothing. */
function listHits(rule: ScanRule, hits: readonly Hit[], { hitsPerFile }: ScanLimits): AppliedRule {
  const found = hits.map((hit) => toFinding(rule, hit)).sort(compareFindings);
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
        reason: `Not listed: \`${rule.id}\` applies ${length} times; only ${hitsPerFile} are shown.`,
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
