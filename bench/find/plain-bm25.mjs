/** Textbook BM25: lower-case words, one field, no stems, no stop words. The baseline for everything else. */

const K1 = 1.2;
const B = 0.75;

/**
 * @param {readonly { readonly location: string, readonly text: string }[]} documents
 * @returns {(query: string, k: number) => string[]} locations, best first
 */
export function plainBm25(documents) {
  /** @type {Map<string, Map<number, number>>} by word: how often each document has it */
  const postings = new Map();
  const lengths = documents.map(({ text }, index) => {
    const words = wordsOf(text);
    for (const word of words) {
      const counts = postings.get(word) ?? new Map();
      counts.set(index, (counts.get(index) ?? 0) + 1);
      postings.set(word, counts);
    }
    return words.length;
  });
  const average = lengths.reduce((sum, length) => sum + length, 0) / documents.length;
  return (query, k) => {
    /** @type {Map<number, number>} */
    const scores = new Map();
    for (const word of new Set(wordsOf(query))) {
      const counts = postings.get(word) ?? new Map();
      const rarity = Math.log(1 + (documents.length - counts.size + 0.5) / (counts.size + 0.5));
      for (const [index, count] of counts) {
        const length = 1 - B + (B * (lengths[index] ?? 0)) / average;
        const gain = (rarity * count * (K1 + 1)) / (count + K1 * length);
        scores.set(index, (scores.get(index) ?? 0) + gain);
      }
    }
    const best = [...scores].sort(([a, x], [b, y]) => y - x || a - b).slice(0, k);
    return best.map(([index]) => documents[index]?.location ?? "");
  };
}

/** @param {string} text */
function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
