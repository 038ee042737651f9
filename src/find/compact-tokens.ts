/** Some skills out of many, and only the terms they have, numbered as they occur: as if nothing else had been read. */
import { PARTS } from "./find-document.ts";
import { sumOf, type Tokens } from "./token-store.ts";

export interface CompactTokens {
  readonly tokens: Tokens;
  readonly terms: readonly string[];
}

export function compactTokens(
  { lengths, numbers }: Tokens,
  terms: readonly string[],
  isKept: (skill: number) => boolean,
): CompactTokens {
  const kept = new Uint32Array(numbers.length);
  const keptLengths: number[] = [];
  const usedTerms: string[] = [];
  /** By old number the new one plus one. */
  const renumbered = new Uint32Array(terms.length);
  let count = 0;
  let from = 0;
  for (let skill = 0; skill * PARTS.length < lengths.length; skill++) {
    const own = lengths.subarray(skill * PARTS.length, (skill + 1) * PARTS.length);
    const to = from + sumOf(own);
    if (isKept(skill)) {
      keptLengths.push(...own);
      for (let token = from; token < to; token++) {
        const old = numbers[token] ?? 0;
        if (renumbered[old] === 0) renumbered[old] = usedTerms.push(terms[old] ?? "");
        kept[count++] = (renumbered[old] ?? 1) - 1;
      }
    }
    from = to;
  }
  return {
    tokens: { lengths: Uint32Array.from(keptLengths), numbers: kept.slice(0, count) },
    terms: usedTerms,
  };
}
