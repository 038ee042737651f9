/**
 * Looks over all files of a skill by the rules. Nothing of the skill is executed, imported or fetched; what could not be
 * looked at is named. The same files give the same report, in the same order.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { cleanLine } from "../disclose/clean-text.ts";
import { takeOutInvisible } from "../foundation/hidden-characters.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import { shorten } from "../parse/shorten.ts";
import type { ParsedSkill, SkillCandidate } from "../skill/skill.ts";
import { identifyContent } from "../trust/content-identity.ts";
import type { SkillContent } from "../trust/list-content.ts";
import { validateSkill } from "../validate/validate-skill.ts";
import { analyseCode } from "./code/analyse-code.ts";
import { isMarkdown } from "./file-kind.ts";
import { findCode } from "./find-code.ts";
import { findDataCommands } from "./find-data-commands.ts";
import { compareFindings, type Finding, fingerprintOf, isAtLeast } from "./finding.ts";
import { takeMarkdownApart } from "./markdown.ts";
import { readSkillFiles } from "./read-files.ts";
import type { Hit, ScanRule } from "./rule.ts";
import { SCAN_RULES } from "./rules.ts";
import { SCAN_LIMITS, type ScanLimits, type SkippedPart } from "./scan-limits.ts";
import type { ScannedDocument, ScannedFile, ScannedSkill } from "./scanned-skill.ts";

export interface ScanSkillOptions {
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

export interface ScanReport {
  /** Of the skill. */
  readonly name: string;
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** How many files there are, and how many of their bytes were read. */
  readonly files: number;
  readonly bytes: number;
  readonly skipped: readonly SkippedPart[];
  /** Content identity of what was scanned, `sha256:…`; absent when it cannot be covered whole, or is not asked for. */
  readonly digest?: string;
}

/** A folder, or a skill of a catalog. */
export type ScanSubject = SkillContent | { readonly directory: string };

const SKILL_FILE = "SKILL.md";
const MOST_EVIDENCE = 160;

export async function scanSkill(subject: ScanSubject, options: ScanSkillOptions = {}): Promise<ScanReport> {
  const limits = { ...SCAN_LIMITS, ...options.limits };
  const content = toContent(subject);
  const { files, bytes, skipped } = readSkillFiles(content, limits);
  const skill = await readScannedSkill(content, { files, unread: skipped }, limits, options);
  const ignored = new Set(options.ignore);
  const applied = SCAN_RULES.filter(({ id }) => !ignored.has(id)).map((rule) =>
    applyRule(rule, skill, limits),
  );
  const identity = options.identify === false ? undefined : identifyContent(content);
  return {
    name: skill.name,
    findings: applied.flatMap(({ findings }) => findings).toSorted(compareFindings),
    files: files.length,
    bytes,
    skipped: [...skill.unread, ...applied.flatMap(({ left }) => left)],
    ...(identity?.ok && { digest: identity.identity.digest }),
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
  const skillFile = basename(content.location);
  const own = files.find(({ path }) => path === skillFile);
  const parsed = own?.text === undefined ? undefined : await parseOwn(content, own.text);
  const manifest = parsed && validateSkill(parsed, "lenient").manifest;
  const documents = files.flatMap((file) => toDocument(file, skillFile));
  const found = findCode({ files, documents, parsed, manifest, skillFile }, limits);
  const inData = await findDataCommands(files, limits);
  const analysed = await analyseCode([...found.parts, ...inData.parts], limits);
  return {
    name: options.name ?? manifest?.name ?? basename(content.directory),
    knownNames: options.knownNames ?? [],
    skillFile,
    files,
    unread: [...unread, ...found.skipped, ...inData.skipped, ...analysed.skipped],
    documents,
    ...(parsed && { parsed }),
    ...(manifest && { manifest }),
    acts: analysed.acts,
  };
}

function parseOwn(
  { form, location, directory }: SkillContent,
  text: string,
): ParsedSkill | Promise<ParsedSkill> {
  const candidate: SkillCandidate = {
    form,
    file: location,
    directory,
    defaultName: basename(form === "directory" ? directory : location),
  };
  return parseSkill(candidate, text);
}

/** Documents are what a person or a model reads: Markdown, plain text, and the skill file whatever its form. */
function toDocument(file: ScannedFile, skillFile: string): readonly ScannedDocument[] {
  const { path, text, language } = file;
  if (text === undefined || language !== undefined) return [];
  const isRead =
    isMarkdown(path) ||
    path === skillFile ||
    /\.(?:txt|rst|adoc|html?|prompt|tmpl)$|(?:^|\/)(?:README|LICENSE|NOTICE)$/i.test(path);
  return isRead ? [{ file: { ...file, text }, parts: takeMarkdownApart(takeOutInvisible(text).text) }] : [];
}

interface AppliedRule {
  readonly findings: readonly Finding[];
  /** Files in which it applies more often than is listed. */
  readonly left: readonly SkippedPart[];
}

const NOTHING: AppliedRule = { findings: [], left: [] };

/** Of the same thing in one place, and of too many in one file, the worst are listed: milder ones hide nothing. */
function applyRule(rule: ScanRule, skill: ScannedSkill, { hitsPerFile }: ScanLimits): AppliedRule {
  const hits = [...rule.find(skill)];
  if (hits.length === 0) return NOTHING;
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
      .map(([path, { length }]) => ({ path, reason: describeLeft(rule.id, length, hitsPerFile) })),
  };
}

function describeLeft(id: string, count: number, most: number): string {
  return `Not listed: \`${id}\` applies ${count} times, and ${most} are shown.`;
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
