/**
 * Characters a reader cannot see: control characters, and invisible or bidirectional ones, which can make a text read
 * differently to a person and to a model. The one list: parsing reports them, disclosure takes them out.
 */

/** All control characters but tab, line ends and U+0085. */
export const CONTROL_CHARACTERS: RegExp = /[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x84\x86-\x9F]/g;

/** The flags of England, Scotland and Wales are the only ones that are spelled with tags; each is found as a whole. */
const INVISIBLE =
  /(?<=\u{1F3F4})\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}|\p{Default_Ignorable_Code_Point}/gu;

/** What a joiner may follow: an emoji, a mark, a letter of a script that joins. */
const BEFORE_JOINER = /(?:\p{Emoji}|\p{M}|\p{L})(?<![\x00-\x7F])$/u;
/** What a variation selector may follow: something that can look in two ways, and never a second selector. */
const BEFORE_SELECTOR = /(?:[0-9#*]|[^\x00-\x7F\p{Default_Ignorable_Code_Point}])$/u;
const BEFORE_IDEOGRAPHIC_SELECTOR = /\p{Script=Han}$/u;

export interface HiddenCharacter {
  readonly character: string;
  /** Where it stands in the text. */
  readonly index: number;
}

export interface VisibleText {
  readonly text: string;
  /** What was taken out, in the order of the text. */
  readonly hidden: readonly HiddenCharacter[];
}

/** The text without invisible characters that belong to no emoji and no script. */
export function takeOutInvisible(text: string): VisibleText {
  const hidden: HiddenCharacter[] = [];
  let before = ""; // the last that was kept
  let end = 0;
  for (const { 0: character, index } of text.matchAll(INVISIBLE)) {
    before = (before + text.slice(Math.max(end, index - 2), index)).slice(-2);
    if (belongs(character, before)) before = character;
    else hidden.push({ character, index });
    end = index + character.length;
  }
  return { text: hidden.length === 0 ? text : takeOut(text, hidden), hidden };
}

function takeOut(text: string, characters: readonly HiddenCharacter[]): string {
  const kept: string[] = [];
  let end = 0;
  for (const { character, index } of characters) {
    kept.push(text.slice(end, index));
    end = index + character.length;
  }
  return kept.join("") + text.slice(end);
}

function belongs(character: string, before: string): boolean {
  if (character === "\u200C" || character === "\u200D") return BEFORE_JOINER.test(before);
  if (/^[\uFE00-\uFE0F\u180B-\u180D\u180F]$/.test(character)) return BEFORE_SELECTOR.test(before);
  if (/^[\u{E0100}-\u{E01EF}]$/u.test(character)) return BEFORE_IDEOGRAPHIC_SELECTOR.test(before);
  return character.length > 2; // the tags of a flag
}

/** `U+200B` */
export function nameCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
