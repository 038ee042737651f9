/**
 * The Porter2 ("Snowball English") stemmer: `reviewing`, `reviewed` and `reviews` become `review`. Words it is not
 * made for (other letters than a to z, fewer than three) stay as they are. Knows nothing but letters.
 */

const VOWEL = /[aeiouy]/;
const DOUBLE = /(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/;
/** A short syllable at the end, as in `hop` and unlike `bow`; or a vowel and a consonant that are the whole word. */
const SHORT_END = /(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])$/;
/** These beginnings are cut where the general rule would cut too early. */
const PREFIX = /^(?:gener|commun|arsen)/;

const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ["skis", "ski"],
  ["skies", "sky"],
  ["dying", "die"],
  ["lying", "lie"],
  ["tying", "tie"],
  ["idly", "idl"],
  ["gently", "gentl"],
  ["ugly", "ugli"],
  ["early", "earli"],
  ["only", "onli"],
  ["singly", "singl"],
  ...["sky", "news", "howe", "atlas", "cosmos", "bias", "andes"].map((word) => [word, word] as const),
]);
const KEPT_AFTER_PLURAL: ReadonlySet<string> = new Set(
  "inning outing canning herring earring proceed exceed succeed".split(" "),
);

type Ending = readonly [ending: string, replacement: string];

const STEP_2: readonly Ending[] = [
  ["ational", "ate"],
  ["fulness", "ful"],
  ["iveness", "ive"],
  ["ization", "ize"],
  ["ousness", "ous"],
  ["biliti", "ble"],
  ["lessli", "less"],
  ["tional", "tion"],
  ["alism", "al"],
  ["aliti", "al"],
  ["ation", "ate"],
  ["entli", "ent"],
  ["fulli", "ful"],
  ["iviti", "ive"],
  ["ousli", "ous"],
  ["abli", "able"],
  ["alli", "al"],
  ["anci", "ance"],
  ["ator", "ate"],
  ["enci", "ence"],
  ["izer", "ize"],
  ["bli", "ble"],
];
const STEP_3: readonly Ending[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["alize", "al"],
  ["icate", "ic"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ness", ""],
  ["ful", ""],
];
const STEP_4: readonly string[] =
  "ement ance ence able ible ment ant ent ism ate iti ous ive ize al er ic".split(" ");

export function stemEnglish(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined) return irregular;
  // A `y` that sounds as a consonant is written `Y` until the end.
  const marked = word.replace(/^y|(?<=[aeiouy])y/g, "Y");
  const [r1, r2] = findRegions(marked);
  let stem = cutPlural(marked);
  if (KEPT_AFTER_PLURAL.has(stem)) return stem;
  stem = cutPast(stem, r1);
  if (/[yY]$/.test(stem) && stem.length > 2 && !VOWEL.test(stem.charAt(stem.length - 2))) {
    stem = `${stem.slice(0, -1)}i`;
  }
  stem = replaceLong(stem, r1);
  stem = replaceMiddle(stem, r1, r2);
  stem = cutShort(stem, r2);
  return cutLast(stem, r1, r2).toLowerCase();
}

/** Where the parts begin in which endings may be cut: after the first consonant behind a vowel, and again. */
function findRegions(word: string): readonly [number, number] {
  const [prefix] = PREFIX.exec(word) ?? [];
  const r1 = prefix?.length ?? regionAfter(word, 0);
  return [r1, regionAfter(word, r1)];
}

function regionAfter(word: string, from: number): number {
  const found = /[aeiouy][^aeiouy]/.exec(word.slice(from));
  return found ? from + found.index + 2 : word.length;
}

function cutPlural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (/ie[sd]$/.test(word)) return word.slice(0, word.length > 4 ? -2 : -1);
  if (/(?:us|ss)$/.test(word)) return word;
  return word.endsWith("s") && VOWEL.test(word.slice(0, -2)) ? word.slice(0, -1) : word;
}

function cutPast(word: string, r1: number): string {
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

function replaceLong(word: string, r1: number): string {
  const found = STEP_2.find(([ending]) => word.endsWith(ending));
  if (found) return replaceEnding(word, found, r1);
  if (word.endsWith("ogi")) return word.endsWith("logi") ? replaceEnding(word, ["ogi", "og"], r1) : word;
  return /[cdeghkmnrt]li$/.test(word) ? replaceEnding(word, ["li", ""], r1) : word;
}

function replaceMiddle(word: string, r1: number, r2: number): string {
  const found = STEP_3.find(([ending]) => word.endsWith(ending));
  if (found) return replaceEnding(word, found, r1);
  return word.endsWith("ative") ? replaceEnding(word, ["ative", ""], r2) : word;
}

function cutShort(word: string, r2: number): string {
  const ending = STEP_4.find((candidate) => word.endsWith(candidate));
  if (ending !== undefined) return replaceEnding(word, [ending, ""], r2);
  return /[st]ion$/.test(word) ? replaceEnding(word, ["ion", ""], r2) : word;
}

function cutLast(word: string, r1: number, r2: number): string {
  const last = word.length - 1;
  if (word.endsWith("e")) {
    const rest = word.slice(0, -1);
    return last >= r2 || (last >= r1 && !SHORT_END.test(rest)) ? rest : word;
  }
  return word.endsWith("ll") && last >= r2 ? word.slice(0, -1) : word;
}

/** Only where the ending stands inside the region; otherwise the word stays, and no shorter ending is tried. */
function replaceEnding(word: string, [ending, replacement]: Ending, region: number): string {
  const at = word.length - ending.length;
  return at >= region ? word.slice(0, at) + replacement : word;
}
