/**
 * The ranking as it is defined, without any shortcut: every skill is scored for every request, from maps of words. What the
 * finder must give, bit by bit.
 */
import type { FindHit } from "../../src/find/build-finder.ts";
import { createVocabulary } from "../../src/find/number-words.ts";
import { eachWord, splitCompound, termOf } from "../../src/find/split-words.ts";
import { createTokenStore, type FindDocument, PARTS } from "../../src/find/token-store.ts";

/** The terms of one skill, part by part. */
type SkillTerms = readonly (readonly string[])[];

export function plainFinder(
  documents: readonly FindDocument[],
): (query: string, k: number) => readonly FindHit[] {
  const skills = documents.map(termsOf);
  const known = new Set(skills.flat(2));
  const averages = PARTS.map((_, part) => {
    const sum = skills.reduce((total, parts) => total + (parts[part]?.length ?? 0), 0);
    return sum / skills.length || 1;
  });
  return (query, k) => {
    const pieces = piecesOf(query, known);
    const scores = skills.map(() => 0);
    for (const { words, share } of pieces) {
      const amounts = skills.map((parts) => amountOf(parts, words, averages));
      const count = amounts.filter((amount) => amount > 0).length;
      const rarity = share * Math.log(1 + (skills.length - count + 0.5) / (count + 0.5));
      for (const [skill, amount] of amounts.entries()) {
        scores[skill] = (scores[skill] ?? 0) + (rarity * amount * 2.5) / (1.5 + amount);
      }
    }
    return documents
      .map(({ name, location = "" }, skill) => ({ name, score: scores[skill] ?? 0, location }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || order(a.name, b.name) || order(a.location, b.location))
      .slice(0, k);
  };
}

function termsOf(document: FindDocument): SkillTerms {
  const store = createTokenStore(createVocabulary());
  store.add(document);
  const { lengths, numbers } = store.finish();
  let from = 0;
  return Array.from(lengths, (length) => {
    const part = [...numbers.subarray(from, from + length)].map(
      (number) => store.vocabulary.terms[number] ?? "",
    );
    from += length;
    return part;
  });
}

interface Piece {
  /** One term, or two that stand side by side. */
  readonly words: readonly string[];
  readonly share: number;
}

function piecesOf(query: string, known: ReadonlySet<string>): readonly Piece[] {
  const asked = askedTerms(query, known);
  const pieces = new Map<string, Piece>();
  for (const terms of asked) {
    const share = terms.isKnown ? 1 : 0.8 / Math.sqrt(terms.meant.length || 1);
    for (const term of terms.meant) if (!pieces.has(term)) pieces.set(term, { words: [term], share });
  }
  for (const [index, { meant }] of asked.entries()) {
    const [first, second] = [asked[index - 1]?.meant ?? [], meant];
    if (first.length !== 1 || second.length !== 1 || first[0] === second[0]) continue;
    const words = [first[0] ?? "", second[0] ?? ""];
    if (!pieces.has(words.join(" "))) pieces.set(words.join(" "), { words, share: 0.3 });
  }
  return [...pieces.values()];
}

function askedTerms(
  query: string,
  known: ReadonlySet<string>,
): readonly { readonly meant: readonly string[]; readonly isKnown: boolean }[] {
  const words: string[] = [];
  eachWord(query, 0, query.length, (word) => {
    const parts = splitCompound(word);
    words.push(...(parts.length === 0 || known.has(termOf(word) ?? "") ? [word] : parts));
  });
  return words.flatMap((word) => {
    const term = termOf(word);
    if (term === undefined) return [];
    const isKnown = known.has(term);
    return [
      { meant: isKnown ? [term] : [...known].filter((other) => isNear(term, other)).sort(order), isKnown },
    ];
  });
}

/** Every word that one edit makes of a term, but for its first letter. */
function isNear(word: string, term: string): boolean {
  if (word.length < 4 || /\d/.test(word) || word[0] !== term[0] || Math.abs(word.length - term.length) > 1) {
    return false;
  }
  for (let at = 0; at < Math.max(word.length, term.length); at++) {
    const isLeftOut = word.slice(0, at) + word.slice(at + 1) === term;
    const isTooMany = term.slice(0, at) + term.slice(at + 1) === word;
    const isOther =
      word.slice(0, at) === term.slice(0, at) &&
      word.slice(at + 1) === term.slice(at + 1) &&
      word.length === term.length;
    const swapped =
      word.slice(0, at) + word.slice(at + 1, at + 2) + word.slice(at, at + 1) + word.slice(at + 2);
    if (isLeftOut || isTooMany || isOther || swapped === term) return true;
  }
  return false;
}

function amountOf(
  parts: SkillTerms,
  [first, second]: readonly string[],
  averages: readonly number[],
): number {
  let amount = 0;
  for (const [index, terms] of parts.entries()) {
    const { weight, lengthNorm } = PARTS[index] ?? { weight: 0, lengthNorm: 0 };
    const each = weight / (1 - lengthNorm + (lengthNorm * terms.length) / (averages[index] ?? 1));
    for (const [at, term] of terms.entries()) {
      if (term === first && (second === undefined || terms[at + 1] === second)) amount += each;
    }
  }
  return amount;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
