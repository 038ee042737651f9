/** The terms of an index and their numbers. */

export interface Vocabulary {
  /** By number. */
  readonly terms: readonly string[];
  /** The number of a term; -1 when there is no such term. */
  numberOf(term: string): number;
  /** The number of a term, which a new one gets now. */
  add(term: string): number;
}

export function createVocabulary(known: readonly string[] = []): Vocabulary {
  const terms = [...known];
  const numbers = new Map(terms.map((term, number) => [term, number]));
  return {
    terms,
    numberOf: (term) => numbers.get(term) ?? -1,
    add(term) {
      const found = numbers.get(term);
      if (found !== undefined) return found;
      numbers.set(term, terms.length);
      return terms.push(term) - 1;
    },
  };
}
