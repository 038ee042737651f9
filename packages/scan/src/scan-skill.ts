/**
 * Looks over all files of a skill by the rules. Nothing of a skill is executed, imported or fetched; what could not be looked
 * at is named. The same files give the same report, in the same order.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { presentFields } from "@metier/base/json";
import { cleanLine, takeOutInvisible } from "@metier/base/text";
import { parseSkill, readSkill, type SkillCandidate, shorten, validateSkill } from "@metier/skills";
import { digestFiles, type IdentifiedFile, identifyContent, type SkillContent } from "@metier/skills/trust";
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

export interface ScanSkillOptions {
  /** What the catalog calls it; otherwise its own name. */
  readonly name?: string;
  /** In place of `name`: it is called by its own name, as whoever found it reads it. */
  readonly candidate?: SkillCandidate;
  /** Names of other skills that this one could be mistaken for. */
  readonly knownNames?: readonly string[];
  /** Rules that are not applied, by id. */
  readonly ignore?: readonly string[];
  readonly limits?: Partial<ScanLimits>;
  /** `false`: the content identity is known, or not asked for, and no file is read a second time for it. */
  readonly identify?: boolean;
}

/** What was found in the same content before. */
export type RecallScan = (digest: string, content: SkillContent) => ScanReport | undefined;

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

export async function scanSkill(
  subject: ScanSubject,
  options: ScanSkillOptions = {},
  recall?: RecallScan,
): Promise<ScanReport> {
  const limits = { ...SCAN_LIMITS, ...options.limits };
  const content = toContent(subject);
  const { files, bytes, skipped } = readSkillFiles(content, limits, options.identify !== false);
  const digest = options.identify === false ? undefined : identify(content, files);
  const known = digest === undefined ? undefined : recall?.(digest, content);
  if (known) return known;
  const skill = await readScannedSkill(content, { files, unread: skipped }, limits, options);
  const ignored = new Set(options.ignore);
  const applied = scanRules()
    .filter(({ id }) => !ignored.has(id))
    .map((rule) => applyRule(rule, skill, limits));
  return {
    name: skill.name,
    findings: applied.flatMap(({ findings }) => findings).toSorted(compareFindings),
    files: files.length,
    bytes,
    skipped: [...skill.unread, ...applied.flatMap(({ left }) => left)],
    ...(digest !== undefined && { digest }),
  };
}

/** By the bytes that were scanned, where all of them were read; otherwise the files are read once more. */
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
  /** What the catalog calls it. */
  readonly name?: string;
  /** It is called by its own name, as reading it tells. */
  readonly candidate?: SkillCandidate;
}

/** `options` are those of all. */
export async function scanJob(
  { subject, name, candidate }: ScanJob,
  options: ScanSkillOptions,
  recall?: RecallScan,
): Promise<ScanReport> {
  return scanSkill(subject, { ...presentFields({ name, candidate }), ...options }, recall);
}

/** What every scan needs, before there is anything to scan. */
export async function loadScan(): Promise<void> {
  await Promise.all([loadMarkdown(SCAN_LIMITS), import("unbash")]);
  scanRules();
}

/** The skill file of a folder, also when it is written in another case. */
export function toContent(subject: ScanSubject): SkillContent {
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

/** Where the text that was scanned is not the file as it is: it is read once more, as everyone reads it. */
async function nameOf(candidate: SkillCandidate | undefined): Promise<string | undefined> {
  if (candidate === undefined) return undefined;
  const { checked } = await readSkill(candidate, "lenient");
  return checked.manifest?.name ?? candidate.defaultName;
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

/** Most rules find nothing in most skills. */
const NOTHING_APPLIED: AppliedRule = { findings: [], left: [] };

/** Of the same thing in one place, and of too many in one file, the worst are listed: milder ones hide nothing. */
function applyRule(rule: ScanRule, skill: ScannedSkill, { hitsPerFile }: ScanLimits): AppliedRule {
  const hits = [...rule.find(skill)];
  if (hits.length === 0) return NOTHING_APPLIED;
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
