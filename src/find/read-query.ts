/** From a request to the terms that are asked for, each a choice of known terms. */
import { nearTerms } from "./near-terms.ts";
import { eachWord, splitCompound, termOf } from "./split-words.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A query is a request, not a document: what stands behind this many characters or terms is left out. */
const MAX_CHARACTERS = 10_000;
const MAX_TERMS = 400;
/** Words that are unknown beyond this many are not looked for among similar ones. */
const MAX_UNKNOWN = 20;

/** What a term counts that is only one letter away from the word that was asked for. */
const NEAR = 0.8;

export interface Asked {
  /** The numbers of the terms that may be meant: one, or those that an unknown word may be a misspelling of. */
  readonly terms: readonly number[];
  /** How much each of them counts. */
  readonly share: number;
}

const NOTHING: Asked = { terms: [], share: 0 };

/** In the order of the request, with its repetitions; of a word that nothing is like there are no terms. */
export function readQuery(query: string, vocabulary: Vocabulary): readonly Asked[] {
  const asked: Asked[] = [];
  let unknown = 0;
  const text = query.slice(0, MAX_CHARACTERS);
  eachWord(text, 0, text.length, (word) => {
    for (const each of wordsFor(word, vocabulary)) {
      const term = termOf(each);
      if (term === undefined || asked.length === MAX_TERMS) continue;
      const number = vocabulary.numberOf(term);
      if (number >= 0) asked.push({ terms: [number], share: 1 });
      else if (++unknown <= MAX_UNKNOWN) asked.push(chooseNear(term, vocabulary));
      else asked.push(NOTHING);
    }
  });
  return asked;
}

/** A compound that no skill has is asked for by its parts. */
function wordsFor(word: string, vocabulary: Vocabulary): readonly string[] {
  const parts = splitCompound(word);
  return parts.length === 0 || vocabulary.numberOf(termOf(word) ?? "") >= 0 ? [word] : parts;
}

function chooseNear(term: string, vocabulary: Vocabulary): Asked {
  const near = nearTerms(term, vocabulary.terms);
  return near.length === 0 ? NOTHING : { terms: near, share: NEAR / Math.sqrt(near.length) };
}
