/**
 * Which skills' own triggers match a message: `triggers.keywords`, `verbs` and `patterns`. Deterministic, with reasons;
 * it suggests and never activates.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { compareText, showValue } from "@metier/base/text";
import type { Skill } from "../skill/skill.ts";
import { eachWord, stemEnglish } from "./split-words.ts";
import type { compileTriggerPattern } from "./trigger-pattern.ts";

export type TriggeredSkill = Pick<Skill, "name" | "location" | "manifest">;

/** One trigger of a skill that a message matches. */
export interface TriggerReason {
  /** Its list in `triggers`. */
  readonly kind: "keyword" | "verb" | "pattern";
  /** The trigger as in the skill. */
  readonly trigger: string;
}

/** A skill whose triggers match a message, and which ones do. */
export interface TriggerMatch<S extends TriggeredSkill = TriggeredSkill> {
  /** The skill, as given. */
  readonly skill: S;
  /** At least one; keywords first, then verbs, then patterns. */
  readonly reasons: readonly TriggerReason[];
}

/** The skills whose `triggers` match a message. Suggests them, but activates none. */
export interface TriggerMatches<S extends TriggeredSkill = TriggeredSkill> {
  /** Most reasons first, then by name. */
  readonly matches: readonly TriggerMatch<S>[];
  /** Invalid patterns. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Text after this many characters of a message is ignored. */
export const MAX_MESSAGE = 4000;
/** The total number of instructions for all patterns of one skill. */
const MAX_PATTERN_SIZE = 2000;
/** Per skill: each is compiled before its size is known. */
const MAX_PATTERNS = 50;

const ONLY_WORDS = /^[\p{L}\p{N}\p{M}]+(?:[ _-]+[\p{L}\p{N}\p{M}]+)*$/u;

export async function matchTriggers<S extends TriggeredSkill>(
  skills: readonly S[],
  message: string,
): Promise<TriggerMatches<S>> {
  const hasPatterns = skills.some(({ manifest }) => (manifest.triggers?.patterns.length ?? 0) > 0);
  const compile = hasPatterns ? (await import("./trigger-pattern.ts")).compileTriggerPattern : undefined;
  const text = message.slice(0, MAX_MESSAGE);
  const plain = plainText(text);
  const stems = stemsOf(text);
  const diagnostics: Diagnostic[] = [];
  const matches: TriggerMatch<S>[] = [];
  for (const skill of skills) {
    const { keywords = [], verbs = [] } = skill.manifest.triggers ?? {};
    const reasons: readonly TriggerReason[] = [
      ...reasonsOf("keyword", keywords, (keyword) => hasPhrase(plain, stems, keyword)),
      ...reasonsOf("verb", verbs, (verb) => hasPhrase(plain, stems, verb)),
      ...(compile ? patternReasons(skill, text, compile, diagnostics) : []),
    ];
    if (reasons.length > 0) matches.push({ skill, reasons });
  }
  matches.sort(
    (a, b) =>
      b.reasons.length - a.reasons.length ||
      compareText(a.skill.name, b.skill.name) ||
      compareText(a.skill.location, b.skill.location),
  );
  return { matches, diagnostics };
}

/** Word by word in any inflection; what is more than words (`c++`, `.env`) as written. */
function hasPhrase(plain: string, stems: string, phrase: string): boolean {
  const wanted = plainText(phrase);
  if (wanted === "") return false;
  const words = ONLY_WORDS.test(wanted) ? stemsOf(wanted) : "";
  return words === "" ? hasLiteral(plain, wanted) : stems.includes(words);
}

/** If the phrase starts or ends with a letter or digit, a word must start or end there too. */
function hasLiteral(text: string, phrase: string): boolean {
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    const end = at + phrase.length;
    const isInside = (left: number): boolean =>
      isLetter(text.charAt(left)) && isLetter(text.charAt(left + 1));
    if (!isInside(at - 1) && !isInside(end - 1)) return true;
  }
  return false;
}

function isLetter(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

/** Lowercase, with single spaces. */
function plainText(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
}

/** The stems of its words with a space before, between and after them; `""` without words. */
function stemsOf(text: string): string {
  const stems: string[] = [];
  const plain = plainText(text);
  eachWord(plain, 0, plain.length, (word) => stems.push(stemEnglish(word)));
  return stems.length === 0 ? "" : ` ${stems.join(" ")} `;
}

function reasonsOf(
  kind: TriggerReason["kind"],
  triggers: readonly string[],
  applies: (trigger: string) => boolean,
): readonly TriggerReason[] {
  return [...new Set(triggers)].filter(applies).map((trigger) => ({ kind, trigger }));
}

function patternReasons(
  { name, location, manifest }: TriggeredSkill,
  text: string,
  compile: typeof compileTriggerPattern,
  diagnostics: Diagnostic[],
): readonly TriggerReason[] {
  const path = location || `integration:${name}`;
  const report = (message: string, hint: string): unknown =>
    diagnostics.push({ code: "trigger.pattern", severity: "warning", path, message, hint });
  const patterns = manifest.triggers?.patterns ?? [];
  if (patterns.length > MAX_PATTERNS) {
    const message = `The skill has ${patterns.length} trigger patterns; only the first ${MAX_PATTERNS} are used.`;
    report(message, "Join patterns with `|`, or use keywords.");
  }
  let room = MAX_PATTERN_SIZE;
  return reasonsOf("pattern", patterns.slice(0, MAX_PATTERNS), (pattern) => {
    const compiled = compile(pattern);
    if (compiled.ok && compiled.value.size <= room) {
      room -= compiled.value.size;
      return compiled.value.matches(text);
    }
    const fault = compiled.ok ? "the skill's patterns are too large together" : compiled.refusal;
    report(
      `The trigger pattern ${showValue(pattern)} is not valid: ${fault}.`,
      "Patterns are matched in linear time: no look-around, no back-references, small repeat counts.",
    );
    return false;
  });
}
