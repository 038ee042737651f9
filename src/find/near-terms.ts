/** Known terms one edit away from an unknown word: a letter more, less, other, or two swapped. The first one is kept. */
import { compareText } from "../foundation/diagnostic.ts";

const MIN_LENGTH = 4;

/** Their numbers, in the order of the terms as text: the same whatever the numbers are. */
export function nearTerms(word: string, terms: readonly string[]): readonly number[] {
  const found: number[] = [];
  if (word.length < MIN_LENGTH || /\d/.test(word)) return found;
  const initial = word.charCodeAt(0);
  for (let number = 0; number < terms.length; number++) {
    const term = terms[number] ?? "";
    if (Math.abs(term.length - word.length) > 1 || term.charCodeAt(0) !== initial) continue;
    if (isOneEdit(word, term)) found.push(number);
  }
  return found.sort((a, b) => compareText(terms[a] ?? "", terms[b] ?? ""));
}

function isOneEdit(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  let at = 0;
  while (at < short.length && short.charCodeAt(at) === long.charCodeAt(at)) at += 1;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  if (short.slice(at + 1) === long.slice(at + 1)) return true;
  const isSwap =
    short.charCodeAt(at) === long.charCodeAt(at + 1) && short.charCodeAt(at + 1) === long.charCodeAt(at);
  return isSwap && short.slice(at + 2) === long.slice(at + 2);
}
