/**
 * How rules find things. Searches phrases in the prose of documents, told apart from quotations and warnings: documents
 * about attacks show what they warn about. And finds acts of code, with a severity that depends on where they are.
 */
import { SCAN_SEVERITIES, type ScanSeverity } from "@metier/skills/config";
import { type Act, type ActKind, placeIn, UNKNOWN } from "../code/code-part.ts";
import { type Hit, milderOf, type ScannedSkill, type TextFile } from "../scanned-skill.ts";
import { mayMatch, type ProseText, readProseText, withWords } from "./prose-words.ts";

interface ProseMatch {
  readonly path: string;
  readonly line: number;
  /** The sentence or line that contains it. */
  readonly seen: string;
  readonly match: string;
  /** The paragraph around it. */
  readonly around: string;
}

interface Paragraph {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** Whether the text above it warns about such texts. Checked only for a match. */
  isWarned(): boolean;
  /** In the frontmatter, where quotation marks are syntax. */
  readonly isFrontmatter: boolean;
}

const MOST_PARAGRAPH = 8000;

/** Many rules need the same, so it is built once. */
export function remember<Key extends object, Value>(
  known: WeakMap<Key, Value>,
  key: Key,
  make: () => Value,
): Value {
  const value = known.get(key);
  if (value !== undefined) return value;
  const made = make();
  known.set(key, made);
  return made;
}

/** Files that were read as text. */
export function textFiles({ files }: ScannedSkill): readonly TextFile[] {
  return files.filter((file): file is TextFile => file.text !== undefined);
}

const paragraphs = new WeakMap<ScannedSkill, readonly Paragraph[]>();

/** Runs of lines without a blank one; a list item or table row is a separate paragraph. */
export function proseParagraphs(skill: ScannedSkill): readonly Paragraph[] {
  return remember(paragraphs, skill, () => [...readParagraphs(skill)]);
}

function* readParagraphs(skill: ScannedSkill): Iterable<Paragraph> {
  for (const { file, parts } of skill.documents) {
    const bodyLine = file.path === skill.skillFile ? (skill.parsed?.bodyLine ?? 1) : 1;
    let start = 0;
    const { prose, headings } = parts;
    for (let at = 0; at <= prose.length; at++) {
      const line = prose[at];
      const isEnd =
        line === undefined ||
        line.trim() === "" ||
        at + 1 === bodyLine ||
        (at > start && /^\s*(?:[-*+]|\d+[.)]|\||#{1,6})\s/.test(line));
      if (!isEnd) continue;
      const text = joinLines(prose, start, at).slice(0, MOST_PARAGRAPH);
      const first = start;
      const isWarned = (): boolean =>
        isAboutAttacks(headings[first] ?? "") || isWarning(leadOf(prose, first));
      const isFrontmatter = first + 1 < bodyLine;
      if (text.trim() !== "") yield { path: file.path, line: first + 1, text, isWarned, isFrontmatter };
      start = line?.trim() === "" ? at + 1 : at;
    }
  }
}

/** Most paragraphs are one line. */
function joinLines(lines: readonly string[], start: number, end: number): string {
  return end - start === 1 ? (lines[start] ?? "") : lines.slice(start, end).join("\n");
}

/** The line that introduces a list or a quotation: `Watch for:`. */
function leadOf(prose: readonly string[], start: number): string {
  for (let at = start - 1; at >= Math.max(0, start - 25); at--) {
    const line = (prose[at] ?? "").trim();
    if (/:\**$/.test(line)) return line;
    if (line.startsWith("#")) return line;
  }
  return "";
}

/** All paragraphs in one text. No pattern spans two: the separator between them is in no word. */
export function wholeProse(skill: ScannedSkill): ProseText {
  const texts = (): readonly string[] => proseParagraphs(skill).map(({ text }) => text);
  return remember(wholes, skill, () => readProseText(texts().join("\n\0\n")));
}

const wholes = new WeakMap<ScannedSkill, ProseText>();

/** The same patterns with `^` and `$` at every line. */
const byLines = new WeakMap<RegExp, RegExp>();

/** `pattern` is global. Most texts have no match, and one search over everything tells. */
export function* proseMatches(skill: ScannedSkill, pattern: RegExp): Iterable<ProseMatch> {
  const whole = wholeProse(skill);
  if (!mayMatch(pattern, whole)) return;
  const flags = pattern.flags.includes("m") ? pattern.flags : `${pattern.flags}m`;
  const byLine = remember(byLines, pattern, () => new RegExp(pattern, flags));
  if (whole.text.search(byLine) === -1) return;
  for (const { path, line, text, isWarned, isFrontmatter } of proseParagraphs(skill)) {
    for (const found of text.matchAll(byLine)) {
      const sentence = sentenceAround(text, found.index, found[0].length);
      const isSpokenOf = !isFrontmatter && isQuoted(text, found.index, found[0].length);
      if (isWarned() || isSpokenOf || isMentioned(sentence, found[0])) continue;
      const at = line + text.slice(0, found.index).split("\n").length - 1;
      yield { path, line: at, seen: sentence, match: found[0], around: text };
    }
  }
}

/** `gradeOf`: by the phrase and its paragraph. Default: the rule's severity. */
export function* findProse(
  skill: ScannedSkill,
  pattern: RegExp,
  gradeOf?: (match: string, around: string) => ScanSeverity | undefined,
): Iterable<Hit> {
  for (const { path, line, seen, match, around } of proseMatches(skill, pattern))
    yield { path, line, seen, severity: gradeOf?.(match, around) };
}

/** The sentence says more than the phrase: that it is a threat, or what someone might say. */
function isMentioned(sentence: string, phrase: string): boolean {
  const at = sentence.indexOf(phrase);
  const before = at === -1 ? "" : sentence.slice(0, at);
  return MENTION.test(before) || isAboutAttacks(sentence.replace(phrase, " "));
}

function sentenceAround(text: string, at: number, length: number): string {
  const before = Math.max(
    text.lastIndexOf(". ", at),
    text.lastIndexOf("\n", at - 1),
    text.lastIndexOf("! ", at),
  );
  const ends = [text.indexOf(". ", at + length), text.indexOf("\n", at + length)].filter((end) => end !== -1);
  return text.slice(before + 1, Math.min(text.length, ...ends.map((end) => end + 1))).trim();
}

/** Between quotation marks or in a table cell: mentioned, not said. */
function isQuoted(text: string, at: number, length: number): boolean {
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const lineEnd = text.indexOf("\n", at + length);
  const line = text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd);
  const [before, after] = [
    text.slice(lineStart, at),
    text.slice(at + length, lineEnd === -1 ? text.length : lineEnd),
  ];
  if (/^\s*\|.*\|\s*$/.test(line)) return true;
  const opens = [...before].filter((character) => /["“”„«]/.test(character)).length;
  return opens % 2 === 1 && /["”“»]/.test(after);
}

/** Words that address a model and ask something of it. */
export function readsLikeInstruction(text: string): boolean {
  const addresses = /\b(?:assistant|AI|agent|model|LLM|claude|gpt|codex|you(?:r)?)\b/i.test(text);
  const wants =
    /\b(?:must|always|never|execute|run|send|ignore|fetch|download|read|install|append|include|upload)\b/i.test(
      text,
    );
  const acts =
    /https?:\/\/|\b(?:curl|wget|bash|credentials?|secrets?|tokens?|\.env|\.ssh|environment variables?|api keys?|silently|hidden)\b/i.test(
      text,
    );
  return addresses && wants && acts && text.trim().split(/\s+/).length >= 6;
}

/** Words that make an attack the topic. */
const TOPIC =
  /\b(?:dangerous|unsafe|malicious|insecure|vulnerab\w+|anti-?patterns?|forbidden|forbids?|blocked|blocks|blocking|den(?:y|ied|ies)|reject(?:s|ed)?|attack\w*|exploit\w*|payloads?|incorrect|prohibit\w*|suspicious|red flags?|detect\w*|scan(?:s|ned|ning|ner)? for|flag(?:s|ged)|refus\w+|prevent\w*|threats?|warn(?:s|ing)? (?:of|about)|not allowed|disallow\w*|jailbreak\w*|prompt injection|injections?|adversar\w+|pentest\w*|penetration test\w*|red[- ]team\w*|ctf|bad example|wrong)\b/i;

/** What one is told not to do; “do not skip this” is different. */
const NOT_TO =
  /\b(?:never|do not|don['’]?t|must not|should not|avoid|instead of|rather than)\s+(?:ever\s+)?(?:[\w-]+\s+){0,3}?(?:run(?:ning)?|us(?:e|ing)|execut(?:e|ing)|do(?:ing)?|writ(?:e|ing)|past(?:e|ing)|pip(?:e|ing)|install(?:ing)?|commit(?:ting)?|put(?:ting)?|hardcod(?:e|ing)|read(?:ing)?|print(?:ing)?|cat|source|delet(?:e|ing)|force|:|$)|^\s*#*\s*\**(?:bad|wrong|avoid|never|don['’]?t)\b|❌|🚫|⛔|✗|✘/im;

export function isWarning(text: string): boolean {
  return TOPIC.test(text) || NOT_TO.test(text);
}

/** For the text before a phrase: the phrase is what someone else might say, or what not to do. */
const MENTION =
  /\b(?:if|when(?:ever)?|should|even if)\b[^.]{0,100}\b(?:says?|asks?|tells?|contains?|claims?|instructs?|attempts?|tries|requests?|appears?|includes?)\b|\b(?:texts?|content|files?|pages?|documents?|messages?|prompts?|skills?|instructions?|anything|something|results?)\s+(?:that|which|who)\s+(?:tells?|asks?|says?|instructs?|wants?|tries)\b|\b(?:never|do not|don['’]?t|must not|cannot|won['’]?t|refuse to|attempts? to|attempting to|trying to|asking (?:you|it|the \w+) to|instructions? to|text that says|phrases? (?:like|such as)|such as|like|can|could|may|might)\b[^.]{0,40}$/i;

/** Only the topic, for sentences with their own “never”. */
export function isAboutAttacks(text: string): boolean {
  return TOPIC.test(text);
}

export const OVERRIDE: RegExp = withWords(
  /\b(?:ignore|disregard|forget)\s+(?=(?:[\w-]+[\s,]+){0,5}?(?:all|any|every|previous|prior|preceding|earlier|above|existing|original|former|other|system|safety|your)\b)(?:(?:all|any|every|each|the|your|of|these|those|and|prior|previous|preceding|earlier|above|existing|original|former|current|other|system|safety|built-in|standard|usual)[\s,]+){1,6}(?:system\s+)?(?:instructions?|prompts?|rules|guidelines|directions|commands|directives|constraints|programming|policies|safeguards|restrictions|messages?)\b(?![-'’])|\b(?:override|bypass|discard|set\s+aside|suspend)\s+(?:(?:all|any|the|of|and|its|your)\s+){0,3}(?:prior|previous|preceding|earlier|original|system|safety|built-in|usual|normal)\s+(?:\w+\s+){0,2}(?:instructions?|prompts?|rules|guidelines|directives|constraints|policies|safeguards|restrictions|guardrails)\b|\b(?:previous|prior|original|normal|usual|standard)\s+(?:\w+\s+){0,2}(?:instructions?|guidelines|restrictions|constraints|safety\s+rules)\s+(?:are|is|have\s+been|no\s+longer|do\s+not)\s+(?:void|cancell?ed|invalid|replaced|superseded|revoked|obsolete|overridden|appl(?:y|ies)|treated\s+as\s+suggestions)/gi,
  ["igno disr forg over bypa disc asid susp void canc inva repl supe revo obso appl trea"],
);

export const CONCEAL: RegExp = withWords(
  /\b(?:do\s+not|don['’]?t|never|must\s+not|without|avoid)\s+(?:ever\s+)?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?)\s+(?:[\w'’-]+\s+){0,6}?(?:the\s+|any\s+|your\s+)?(?:users?|humans?|operators?|developers?|anyone|owner)\b(?!['’-]|\s+(?:to|how|that\s+(?:they|it)|they|when|until|unless|before|whether|what|which|where)\b)|\b(?:hide|conceal)\s+(?:this|these|it|them|the|any|all)\s+(?:[\w'’-]+\s+){0,4}?from\s+(?:the\s+)?(?:users?|humans?|operators?|developers?)\b(?!['’-])|\bkeep\s+(?:this|these|it|them)\s+(?:[\w'’-]+\s+){0,3}?(?:secret|hidden|confidential|invisible)\s+(?:from|to)\s+(?:the\s+)?users?\b|\bwithout\s+(?:the\s+)?users?(?:['’]s?)?\s+(?:knowledge|knowing|consent|noticing|awareness)\b/gi,
  [
    "user huma oper deve anyo owne",
    "tell info ment reve disc noti aler warn hide conc secr hidd conf invi know cons awar",
  ],
);

export const JAILBREAK: RegExp = withWords(
  /\byou\s+are\s+(?:now|no\s+longer)\s+(?:(?:in|an?|the|bound|restricted|limited|acting|operating)\s+)+(?:developer\s+mode|DAN\b|jailbroken|unrestricted|unfiltered|by\s+(?:any|your|these|the)\s+(?:rules|restrictions|guidelines|policies|safety))|\b(?:act|behave|respond|operate)\s+as\s+(?:if\s+you\s+(?:have|had)\s+no|an?\s+(?:unrestricted|unfiltered|uncensored|jailbroken))\b|\bDo\s+Anything\s+Now\b|\b(?:enable|enter|activate)\s+(?:developer|god|jailbreak|unrestricted|DAN)\s+mode\b|\b(?:you\s+(?:have|has)\s+no|without\s+(?:any\s+)?|ignore\s+(?:all\s+|any\s+|your\s+)?|bypass\s+(?:all\s+|any\s+|your\s+)?|disable\s+(?:all\s+|any\s+|your\s+)?)(?:ethical|safety|content|moral)\s+(?:restrictions?|guidelines?|filters?|constraints?|limitations?|guardrails?|checks?|policies)\b/gi,
  [
    "now long act beha resp oper mode ethi safe cont mora noet nosa noco nomo",
    "now long act beha resp oper enab ente acti have has with igno bypa disa",
  ],
);

/** Something is to be sent somewhere. */
export const SEND_PROSE: RegExp = withWords(
  /\b(?:send|upload|post|transmit|forward|e-?mail\s+(?:it|them|the|all|a)|exfiltrate|submit|leak)\b(?=[^.\n]{0,200}(?:https?:\/\/|\bto\b|\bvia\b))/i,
  ["send uplo post tran forw emai mail exfi subm leak"],
);

/** Private data. */
export const SECRET_PROSE: RegExp =
  /(?:^|[\s`"'/])\.env\b|~\/\.(?:ssh|aws|gnupg|npmrc|netrc|kube|docker|config\/gcloud)\b|\bid_(?:rsa|ed25519)\b|\bssh\s+(?:private\s+)?keys?\b|\bprivate\s+keys?\b|\bbrowser\s+(?:cookies|passwords|history)\b|\bkeychain\b|\b(?:all|entire|full|complete|contents?\s+of)\s+(?:the\s+)?(?:environment(?:\s+variables)?|env\b|\.env|credentials?|conversation|chat\s+history)|\b(?:contents?|copy)\s+of\s+[^.\n]{0,30}(?:\.env|credentials)|\bconversation\s+(?:history|transcript|context)\b|\b(?:cop(?:y|ies)|transcripts?|recordings?|logs?)\s+of\s+(?:(?:the|this|our|your|each|every|all|user['’]s|entire|whole|current)\s+){0,3}(?:conversations?|chats?|dialog(?:ue)?s?)\b|\bsystem\s+prompt\b|\bseed\s+phrases?\b|\b(?:api\s+keys?|passwords?|credentials|tokens|secrets)\b(?=[^.\n]{0,120}https?:\/\/)/i;

/** In code order. Every code rule needs them, so they are separated once. */
export function actsOf(skill: ScannedSkill, ...kinds: readonly ActKind[]): readonly Act[] {
  if (skill.acts.length === 0) return [];
  const [only, ...others] = kinds;
  if (only === undefined || others.length > 0) return skill.acts.filter(({ kind }) => kinds.includes(kind));
  return remember(sorted, skill, () => Map.groupBy(skill.acts, ({ kind }) => kind)).get(only) ?? [];
}

const sorted = new WeakMap<ScannedSkill, ReadonlyMap<ActKind, readonly Act[]>>();

export function actHit(act: Act, severity: ScanSeverity, detail?: string): Hit {
  const { part, at, seen } = act;
  return { path: part.path, ...placeIn(part, at), seen, severity: gradeByPlace(act, severity), detail };
}

/** The commands a rule matches; often milder if a document shows them. */
export function* findCommandHits(
  skill: ScannedSkill,
  isMeant: (program: string, words: readonly string[], act: Act) => boolean,
  inScript: ScanSeverity,
  inDocument: ScanSeverity = inScript,
): Iterable<Hit> {
  for (const act of actsOf(skill, "command")) {
    const [program = "", ...words] = act.words ?? [];
    if (isMeant(program, words, act)) yield actHit(act, isDocumented(act) ? inDocument : inScript);
  }
}

/**
 * What a document warns about is at most `low`; what a sentence only mentions, without saying to run it, is one step
 * milder.
 */
function gradeByPlace(act: Act, severity: ScanSeverity): ScanSeverity {
  const { part } = act;
  if (isDocumented(act) && (part.isWarning || hasWarningBefore(act))) return milderOf(severity, "low");
  return part.kind === "span" && !part.isToBeRun ? moveSeverity(severity, -1) : severity;
}

export function moveSeverity(severity: ScanSeverity, steps: number): ScanSeverity {
  return SCAN_SEVERITIES[SCAN_SEVERITIES.indexOf(severity) + steps] ?? severity;
}

export function hasWord(words: readonly string[], pattern: RegExp): boolean {
  return words.some((word) => pattern.test(word));
}

/** A program started by `starters` with a value among its arguments does not execute the value. */
export function isOnlyGiven({ target = "", content }: Act, starters: RegExp): boolean {
  if (!starters.test(target) || content === undefined) return false;
  return !content.startsWith(UNKNOWN) && !/^(?:ba|z|da)?sh -c/.test(content);
}

/** Shown in a document, where a person or model reads it before it is done. */
export function isDocumented({ part: { kind } }: Act): boolean {
  return kind === "block" || kind === "span";
}

/** A comment on the line, or on the one or two before it. */
function hasWarningBefore({ part: { text, within }, at }: Act): boolean {
  if (within) return false;
  const lineEnd = text.indexOf("\n", at);
  const before = text
    .slice(0, lineEnd === -1 ? text.length : lineEnd)
    .split("\n")
    .slice(-3);
  const comments = before.flatMap((line) => /(?:^|\s)(?:#|\/\/)\s?(.*)$/.exec(line)?.[1] ?? []);
  return isWarning(comments.join("\n"));
}
