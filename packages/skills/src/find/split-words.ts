/**
 * Splits text into words, and turns a word into its search term: `kebab-case` and `snake_case` in parts, no stop words,
 * stems. Scripts without spaces are split by character. Knows no index.
 */

/** Longer runs of letters and digits are encoded data, not words. */
const MAX_WORD = 64;

const SEPARATOR = 1;
const LETTER = 2;
/** A character that is a separate word. */
const WORD = 3;

/** The kind of each UTF-16 unit, determined on first use; half a surrogate pair counts as a separator. */
const KINDS = new Uint8Array(65_536);
const IS_WORD = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const IS_LETTER = /[\p{L}\p{N}\p{M}]/u;

/** Yields each word of `text` between `from` and `to`, as written, without what follows an apostrophe. */
export function eachWord(text: string, from: number, to: number, visit: (word: string) => void): void {
  const units = Uint16Array.from({ length: to - from }, (_, at) => text.charCodeAt(from + at));
  eachWordSpan(units, 0, units.length, (start, end) => visit(text.slice(from + start, from + end)));
}

/** Like `eachWord`, over a text's UTF-16 units: where each word starts and ends. */
export function eachWordSpan(
  units: Uint16Array,
  from: number,
  to: number,
  visit: (start: number, end: number) => void,
): void {
  let at = from;
  while (at < to) {
    const kind = kindAt(units, at);
    if (kind === WORD) visit(at, at + 1);
    if (kind !== LETTER) {
      at += 1;
      continue;
    }
    const start = at;
    at = endOfLetters(units, at + 1, to);
    if (at - start <= MAX_WORD) visit(start, at);
    if (at < to && isApostrophe(units[at])) at = endOfLetters(units, at + 1, to);
  }
}

/** The term of a word as written; `undefined` for a stop word. */
export function termOf(word: string): string | undefined {
  const isPlain = isLowerEnglish(word);
  const folded = isPlain ? word : foldWord(word);
  if (STOP_MARKS[stopMark(folded)] === 1 && STOP_WORDS.has(folded)) return undefined;
  return isPlain ? stemLetters(folded) : stemEnglish(folded);
}

/** Most words are, and need no folding. */
function isLowerEnglish(word: string): boolean {
  for (let at = 0; at < word.length; at++) {
    const unit = word.charCodeAt(at);
    if (unit < FIRST_LETTER || unit > LAST_LETTER) return false;
  }
  return true;
}

const [FIRST_LETTER, LAST_LETTER] = [0x61, 0x7a];

/**
 * The parts of a compound: `parseHTTPRequest` → `parse`, `HTTP`, `Request`; none for any other word. Running text keeps
 * its compounds whole: most are names (`GitHub`, `JavaScript`), whose parts mean something else.
 */
export function splitCompound(word: string): readonly string[] {
  return /[a-z0-9][A-Z]|[A-Z]{2}[a-z]/.test(word)
    ? word.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    : [];
}

/** One spelling: lowercase, compatible forms unified, accents of Latin letters removed. */
export function foldWord(word: string): string {
  if (/^[\x00-\x7f]*$/.test(word)) return word.toLowerCase();
  return word
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase();
}

function endOfLetters(units: Uint16Array, from: number, to: number): number {
  let at = from;
  while (at < to && kindAt(units, at) === LETTER) at += 1;
  return at;
}

function isApostrophe(unit: number | undefined): boolean {
  return unit === 0x27 || unit === 0x2019;
}

function kindAt(units: Uint16Array, at: number): number {
  const unit = units[at] ?? 0;
  const known = KINDS[unit] ?? 0;
  return known === 0 ? classify(unit) : known;
}

function classify(unit: number): number {
  const character = String.fromCharCode(unit);
  const kind = IS_WORD.test(character) ? WORD : IS_LETTER.test(character) ? LETTER : SEPARATOR;
  KINDS[unit] = kind;
  return kind;
}

/** English words that say nothing about a subject. They are neither stored nor searched. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an the and or but if then else nor so than too very of to in on at by for from with without into onto over under
  as is are was were be been being am do does did doing have has had having can could should would will shall may
  might must i me my we us our you your he she it its they them their his her this that these those any all some each
  which who whom whose what when where why how there here about up down out off again only own same such more most
  other not no just also s t d ll re ve m don`.split(/\s+/),
);

/** By ends and length: V8 stores every text that a `Set` or `Map` is asked for, so they are asked rarely. */
const STOP_MARKS = new Uint8Array(2 ** 12);
for (const word of STOP_WORDS) STOP_MARKS[stopMark(word)] = 1;

function stopMark(word: string): number {
  return ((word.charCodeAt(0) << 7) ^ (lastOf(word) << 3) ^ word.length) & 0xfff;
}

const VOWEL = /[aeiouy]/;
const DOUBLE = /(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/;
/** A short final syllable, as in `hop` and unlike `bow`; or a vowel and a consonant that are the whole word. */
const SHORT_END = /(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])$/;
/** Prefixes where the general rule would cut too early. */
const PREFIXES = ["gener", "commun", "arsen"];

/** Suffixes and their replacements, the longest first; nothing after the colon: they are removed. */
const STEP_2 = `ational:ate fulness:ful iveness:ive ization:ize ousness:ous biliti:ble lessli:less tional:tion alism:al aliti:al
  ation:ate entli:ent fulli:ful iviti:ive ousli:ous abli:able alli:al anci:ance ator:ate enci:ence izer:ize bli:ble`;
const STEP_3 = "ational:ate tional:tion alize:al icate:ic iciti:ic ical:ic ness: ful:";
const STEP_4 = "ement: ance: ence: able: ible: ment: ant: ent: ism: ate: iti: ous: ive: ize: al: er: ic:";
const IRREGULAR = `skis:ski skies:sky dying:die lying:lie tying:tie idly:idl gently:gentl ugly:ugli early:earli only:onli
  singly:singl sky:sky news:news howe:howe atlas:atlas cosmos:cosmos bias:bias andes:andes`;
const KEPT_AFTER_PLURAL = "inning outing canning herring earring proceed exceed succeed";

type Ending = readonly [ending: string, replacement: string];

/** By the unit of their last letter, in order: only those that end like the word are tried. */
type Endings = readonly (readonly Ending[])[];

/** Built when the first word is stemmed: most commands never search. */
let tables: ReturnType<typeof readTables> | undefined;

function readTables() {
  return {
    irregular: readEndings(IRREGULAR),
    kept: KEPT_AFTER_PLURAL.split(" "),
    step2: readEndings(STEP_2),
    step3: readEndings(STEP_3),
    step4: readEndings(STEP_4),
  };
}

function readPairs(text: string): readonly Ending[] {
  return text.split(/\s+/).map((pair) => {
    const [from = "", to = ""] = pair.split(":");
    return [from, to];
  });
}

function readEndings(text: string): Endings {
  const endings = Array.from({ length: LAST_LETTER + 1 }, (): Ending[] => []);
  for (const pair of readPairs(text)) endings[lastOf(pair[0])]?.push(pair);
  return endings;
}

function findEnding(word: string, endings: Endings): Ending | undefined {
  for (const pair of endings[lastOf(word)] ?? []) if (word.endsWith(pair[0])) return pair;
  return undefined;
}

/**
 * The Porter2 ("Snowball English") stemmer: `reviewing`, `reviewed` and `reviews` become `review`. Words it does not
 * support (letters other than a to z, fewer than three) stay unchanged.
 */
export function stemEnglish(word: string): string {
  return isLowerEnglish(word) ? stemLetters(word) : word;
}

function stemLetters(word: string): string {
  if (word.length < 3) return word;
  tables ??= readTables();
  for (const [whole, stem] of tables.irregular[lastOf(word)] ?? []) if (whole === word) return stem;
  // A consonant `y` is written `Y` until the end.
  const hasY = word.includes("y");
  const marked = hasY ? word.replace(/^y|(?<=[aeiouy])y/g, "Y") : word;
  const [r1, r2] = findRegions(marked);
  let stem = cutPlural(marked);
  if ((lastOf(stem) === G || lastOf(stem) === D) && tables.kept.includes(stem)) return stem;
  stem = cutPast(stem, r1);
  if (hasY && /[yY]$/.test(stem) && stem.length > 2 && !VOWEL.test(stem.charAt(stem.length - 2))) {
    stem = `${stem.slice(0, -1)}i`;
  }
  stem = replaceLong(stem, r1, tables.step2);
  stem = replaceMiddle(stem, r1, r2, tables.step3);
  stem = cutShort(stem, r2, tables.step4);
  stem = cutLast(stem, r1, r2);
  return hasY ? stem.toLowerCase() : stem;
}

/** Where the regions for removing suffixes start: after the first consonant that follows a vowel, and again. */
function findRegions(word: string): readonly [number, number] {
  const first = word.charCodeAt(0);
  const isCandidate = first === G || first === C || first === A;
  const prefix = isCandidate ? PREFIXES.find((one) => word.startsWith(one)) : undefined;
  const r1 = prefix?.length ?? regionAfter(word, 0);
  return [r1, regionAfter(word, r1)];
}

function regionAfter(word: string, from: number): number {
  for (let at = from + 1; at < word.length; at++) {
    if (isVowel(word.charCodeAt(at - 1)) && !isVowel(word.charCodeAt(at))) return at + 1;
  }
  return word.length;
}

const [A, E, I, O, U, Y, C, D, G, N, S] = Array.from("aeiouycdgns", (letter) => letter.charCodeAt(0));

function isVowel(unit: number): boolean {
  return unit === E || unit === A || unit === I || unit === O || unit === U || unit === Y;
}

/** Most words end in a letter that no suffix has, and need no check. */
function lastOf(word: string): number {
  return word.charCodeAt(word.length - 1);
}

function cutPlural(word: string): string {
  if (lastOf(word) !== S && lastOf(word) !== D) return word;
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (/ie[sd]$/.test(word)) return word.slice(0, word.length > 4 ? -2 : -1);
  if (/(?:us|ss)$/.test(word)) return word;
  return word.endsWith("s") && VOWEL.test(word.slice(0, -2)) ? word.slice(0, -1) : word;
}

function cutPast(word: string, r1: number): string {
  if (lastOf(word) !== D && lastOf(word) !== G && lastOf(word) !== Y) return word;
  const [eed] = /eed(?:ly)?$/.exec(word) ?? [];
  if (eed !== undefined) {
    return word.length - eed.length >= r1 ? `${word.slice(0, -eed.length)}ee` : word;
  }
  const [ending] = /(?:ed|ing)(?:ly)?$/.exec(word) ?? [];
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  if (!VOWEL.test(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (DOUBLE.test(stem)) return stem.slice(0, -1);
  return r1 >= stem.length && SHORT_END.test(stem) ? `${stem}e` : stem;
}

function replaceLong(word: string, r1: number, endings: Endings): string {
  const found = findEnding(word, endings);
  if (found) return replaceEnding(word, found, r1);
  if (lastOf(word) !== I) return word;
  if (word.endsWith("ogi")) return word.endsWith("logi") ? replaceEnding(word, ["ogi", "og"], r1) : word;
  return /[cdeghkmnrt]li$/.test(word) ? replaceEnding(word, ["li", ""], r1) : word;
}

function replaceMiddle(word: string, r1: number, r2: number, endings: Endings): string {
  const found = findEnding(word, endings);
  if (found) return replaceEnding(word, found, r1);
  return word.endsWith("ative") ? replaceEnding(word, ["ative", ""], r2) : word;
}

function cutShort(word: string, r2: number, endings: Endings): string {
  const found = findEnding(word, endings);
  if (found) return replaceEnding(word, found, r2);
  return lastOf(word) === N && /[st]ion$/.test(word) ? replaceEnding(word, ["ion", ""], r2) : word;
}

function cutLast(word: string, r1: number, r2: number): string {
  const last = word.length - 1;
  if (word.endsWith("e")) {
    const rest = word.slice(0, -1);
    return last >= r2 || (last >= r1 && !SHORT_END.test(rest)) ? rest : word;
  }
  return word.endsWith("ll") && last >= r2 ? word.slice(0, -1) : word;
}

/** Only if the suffix is inside the region; otherwise the word stays, and no shorter suffix is tried. */
function replaceEnding(word: string, [ending, replacement]: Ending, region: number): string {
  const at = word.length - ending.length;
  return at >= region ? word.slice(0, at) + replacement : word;
}
