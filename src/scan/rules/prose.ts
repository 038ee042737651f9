/** Phrases in the prose of documents, told apart from quotations and from warnings of them. */
import type { Hit } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { isAboutAttacks, isMentionAfter, isWarning } from "../warning.ts";

export interface ProseMatch {
  readonly path: string;
  readonly line: number;
  /** The sentence or line it stands in. */
  readonly seen: string;
  readonly match: string;
  /** The paragraph around it. */
  readonly around: string;
}

export interface Paragraph {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** Whether what stands above it warns of such texts. Asked only where something was found. */
  isWarned(): boolean;
  /** In the frontmatter, where quotation marks belong to the form. */
  readonly isFrontmatter: boolean;
}

const MOST_PARAGRAPH = 8000;

/** Every rule reads them. */
const known = new WeakMap<ScannedSkill, readonly Paragraph[]>();

/** Runs of lines without a blank one; a list item or a table row is a paragraph of its own. */
export function proseParagraphs(skill: ScannedSkill): readonly Paragraph[] {
  const paragraphs = known.get(skill) ?? [...readParagraphs(skill)];
  known.set(skill, paragraphs);
  return paragraphs;
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
      const text = prose.slice(start, at).join("\n").slice(0, MOST_PARAGRAPH);
      const first = start;
      const isWarned = (): boolean =>
        isAboutAttacks(headings[first] ?? "") || isWarning(leadOf(prose, first));
      const isFrontmatter = first + 1 < bodyLine;
      if (text.trim() !== "") yield { path: file.path, line: first + 1, text, isWarned, isFrontmatter };
      start = line?.trim() === "" ? at + 1 : at;
    }
  }
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

/** All paragraphs in one text. No pattern reaches from one into the next: between them stands what is in no word. */
export function wholeProse(skill: ScannedSkill): string {
  const whole =
    wholes.get(skill) ??
    proseParagraphs(skill)
      .map(({ text }) => text)
      .join("\n\0\n");
  wholes.set(skill, whole);
  return whole;
}

const wholes = new WeakMap<ScannedSkill, string>();

/** The same pattern with `^` and `$` at every line. */
function byLineOf(pattern: RegExp): RegExp {
  const known = byLines.get(pattern);
  if (known) return known;
  const byLine = new RegExp(pattern, pattern.flags.includes("m") ? pattern.flags : `${pattern.flags}m`);
  byLines.set(pattern, byLine);
  return byLine;
}

const byLines = new WeakMap<RegExp, RegExp>();

/** `pattern` is global. Most texts have nothing of what is looked for, and one look at all of it tells. */
export function* proseMatches(skill: ScannedSkill, pattern: RegExp): Iterable<ProseMatch> {
  const byLine = byLineOf(pattern);
  if (wholeProse(skill).search(byLine) === -1) return;
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

export function* findProse(skill: ScannedSkill, pattern: RegExp): Iterable<Hit> {
  for (const { path, line, seen } of proseMatches(skill, pattern)) yield { path, line, seen };
}

/** The sentence says more than the phrase itself: that it is a threat, or what someone might say. */
function isMentioned(sentence: string, phrase: string): boolean {
  const at = sentence.indexOf(phrase);
  const before = at === -1 ? "" : sentence.slice(0, at);
  return isMentionAfter(before) || isAboutAttacks(sentence.replace(phrase, " "));
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

/** Between quotation marks, or in a cell of a table: it is spoken about, not said. */
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

/** Words that address a model and want something of it. */
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
