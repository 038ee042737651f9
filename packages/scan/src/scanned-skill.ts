/** A skill as rules see it, the scan's limits, what a rule is, and what it finds. */
import { createHash } from "node:crypto";
import { compareText } from "@metier/base/text";
import type { ParsedSkill, SkillManifest } from "@metier/skills";
import { SCAN_SEVERITIES, type ScanSeverity } from "@metier/skills/config";
import type { Act, CodeLanguage } from "./code/code-part.ts";
import type { Signature } from "./file-types.ts";
import type { MarkdownParts } from "./markdown.ts";

export interface ScannedFile {
  /** In the skill's folder, with `/` between segments. */
  readonly path: string;
  readonly kind: "file" | "link" | "special";
  /** For a link: its target. */
  readonly target?: string;
  readonly size: number;
  readonly executable: boolean;
  /** Absent if it is not text, or was not read. */
  readonly text?: string;
  /** Nothing is hidden in its text, and no letter looks like another. */
  readonly isAscii?: boolean;
  /** The text is the file, byte for byte. */
  readonly isVerbatim?: boolean;
  /** For the bytes of the text, if the file did not change during reading. */
  readonly digest?: string | undefined;
  /** The first and last bytes of a file that is not text. */
  readonly head?: Uint8Array;
  readonly tail?: Uint8Array;
  readonly signature?: Signature | undefined;
  readonly language?: CodeLanguage | undefined;
  /** Why it was not read. */
  readonly fault?: string;
}

export type TextFile = ScannedFile & { readonly text: string };

export interface ScannedDocument {
  readonly file: TextFile;
  readonly parts: MarkdownParts;
}

export interface ScannedSkill {
  readonly name: string;
  /** Names that this one could be mistaken for. */
  readonly knownNames: readonly string[];
  /** Path of the skill file in the folder. */
  readonly skillFile: string;
  readonly files: readonly ScannedFile[];
  /** What could not be read, or whose code could not be followed; `.` is the folder itself. */
  readonly unread: readonly SkippedPart[];
  /** Texts for people and models: Markdown and plain text. */
  readonly documents: readonly ScannedDocument[];
  readonly parsed?: ParsedSkill | undefined;
  readonly manifest?: SkillManifest | undefined;
  readonly acts: readonly Act[];
}

export const SCAN_LIMITS = {
  /** Files and folders to list. */
  entries: 20_000,
  /** For one file that is read as text. */
  fileBytes: 1024 * 1024,
  /** For all files together. */
  totalBytes: 64 * 1024 * 1024,
  /** For one piece of code to parse; longer ones are only read as text. */
  codeCharacters: 256 * 1024,
  /** Parser steps for all of a skill's code: real code needs one for two characters or more. */
  steps: 1_500_000,
  /** Paragraphs, headings, list items and code blocks, in all documents of a skill. */
  blocks: 200_000,
  /** Depth of a syntax tree; anything deeper is not followed. */
  depth: 200,
  /** Nodes in the syntax tree of one piece of code. */
  nodes: 200_000,
  /** Pieces of code in one file: blocks, commands, code within code. */
  pieces: 500,
  /** Hits that one rule reports for one file. */
  hitsPerFile: 20,
};

export type ScanLimits = Readonly<Record<keyof typeof SCAN_LIMITS, number>>;

/** Something that was not checked, or only in part. */
export interface SkippedPart {
  /** In the skill's folder, with `/` between segments; `.` is the folder itself. */
  readonly path: string;
  /** One sentence. */
  readonly reason: string;
}

export const RULE_FAMILIES = [
  "text",
  "injection",
  "credentials",
  "exfiltration",
  "download",
  "obfuscation",
  "control",
  "destructive",
  "persistence",
  "evasion",
  "tools",
  "secrets",
  "names",
  "files",
] as const;
export type RuleFamily = (typeof RULE_FAMILIES)[number];

export interface RuleFacts {
  /** `<family>.<what>`; its meaning never changes. */
  readonly id: string;
  readonly family: RuleFamily;
  /** The worst it can be; a single finding may be milder because of its place. */
  readonly severity: ScanSeverity;
  /** What was found, as a sentence without a period. */
  readonly title: string;
  /** Why that is dangerous, and why it has this severity. */
  readonly explanation: string;
  /** What to do about it. */
  readonly help: string;
}

/** A place where a rule applies. */
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly column?: number;
  /** As in the file; cleaned and truncated later. */
  readonly seen: string;
  /** What to show instead of a match that must not be shown. */
  readonly shown?: string;
  /** More about this hit, after the title; starts in lowercase. */
  readonly detail?: string | undefined;
  /** The rule's severity, or a milder one. */
  readonly severity?: ScanSeverity | undefined;
}

export interface ScanRule extends RuleFacts {
  find(skill: ScannedSkill): Iterable<Hit>;
}

/** Rules by id; the first word of an id is the family. */
export type RuleTable = Readonly<Record<`${RuleFamily}.${string}`, Omit<ScanRule, "id" | "family">>>;

/** One finding of a scan rule in a skill. */
export interface Finding {
  /** The rule's stable id: `exfiltration.secret`. */
  readonly id: string;
  /** At most the rule's severity; milder if the place makes it less dangerous. */
  readonly severity: ScanSeverity;
  /** In the skill's folder, with `/` between segments. */
  readonly path: string;
  /** 1-based; 1 for a file as a whole. */
  readonly line: number;
  /** 1-based. Absent if only the line is known. */
  readonly column?: number;
  /** What was found, as one sentence. */
  readonly message: string;
  /** The matched text, cleaned and truncated. Secrets are masked. */
  readonly evidence?: string;
  /** The same for the same finding in the same file, on any line. */
  readonly fingerprint: string;
}

export function isAtLeast(severity: ScanSeverity, level: ScanSeverity): boolean {
  return SCAN_SEVERITIES.indexOf(severity) >= SCAN_SEVERITIES.indexOf(level);
}

export function milderOf(a: ScanSeverity, b: ScanSeverity): ScanSeverity {
  return isAtLeast(a, b) ? b : a;
}

/** Worst first, then by place. */
export function compareFindings(a: Finding, b: Finding): number {
  return (
    SCAN_SEVERITIES.indexOf(b.severity) - SCAN_SEVERITIES.indexOf(a.severity) ||
    compareText(a.path, b.path) ||
    a.line - b.line ||
    (a.column ?? 0) - (b.column ?? 0) ||
    compareText(a.id, b.id) ||
    compareText(a.fingerprint, b.fingerprint)
  );
}

/** Ignores whitespace, so that indenting a line changes nothing. */
export function fingerprintOf(id: string, path: string, seen: string): string {
  const normal = seen.normalize("NFC").replace(/\s+/g, " ").trim();
  return createHash("sha256").update(`${id}\0${path}\0${normal}`).digest("hex").slice(0, 32);
}
