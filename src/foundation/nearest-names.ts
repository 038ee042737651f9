/** "Did you mean": the known names nearest to a mistyped one. Bounded, since both sides may be untrusted. */
import { compareText } from "./diagnostic.ts";

const MAX_LENGTH = 64;
const MAX_CANDIDATES = 20_000;

/** Up to three names within a third of the word's length (at least one edit), nearest first. */
export function nearestNames(word: string, names: Iterable<string>, most = 3): readonly string[] {
  if (word.length === 0 || word.length > MAX_LENGTH) return [];
  const limit = Math.max(1, Math.floor(word.length / 3));
  const found: { readonly name: string; readonly distance: number }[] = [];
  let seen = 0;
  for (const name of names) {
    if (++seen > MAX_CANDIDATES) break;
    if (Math.abs(name.length - word.length) > limit) continue;
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance <= limit) found.push({ name, distance });
  }
  found.sort((a, b) => a.distance - b.distance || compareText(a.name, b.name));
  return found.slice(0, most).map((entry) => entry.name);
}

/** Insertions, deletions, substitutions and swaps of two neighbours, one each. */
function editDistance(a: string, b: string): number {
  let beforePrevious: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const distance = Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution);
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(isSwap ? Math.min(distance, (beforePrevious[column - 2] ?? distance) + 1) : distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
