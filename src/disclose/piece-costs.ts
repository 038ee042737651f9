/**
 * What each skill costs in a listing at each level of detail. Every piece is counted once, when it is first asked for:
 * a description in the segments between its cuts, so that all its lengths together cost as much as the longest.
 */
import type { Skill } from "../skill/skill.ts";
import type { TokenCounter } from "./count-tokens.ts";
import type { ListingEntry } from "./listing.ts";
import { toListingEntry } from "./listing-entry.ts";
import type { ListingSettings } from "./render-listing.ts";
import { cutPoint, SHORT_DESCRIPTION } from "./shorten-description.ts";

/** The lengths, in characters, to which descriptions are cut. */
export const CUTS: readonly number[] = [SHORT_DESCRIPTION, 100, 160, 250, 400, 640];

/** Levels of detail: counted, named, cut to `CUTS[level - FIRST_CUT]`, full. */
export const COUNTED = 0;
export const NAMED = 1;
export const FIRST_CUT = 2;
export const FULL: number = FIRST_CUT + CUTS.length;

export interface PieceCosts {
  /** The skill as it is listed in full. */
  entry(index: number): ListingEntry;
  /** Tokens of the skill at that level. */
  cost(index: number, level: number): number;
}

export function pieceCosts(
  skills: readonly Skill[],
  settings: ListingSettings,
  countTokens: TokenCounter,
): PieceCosts {
  const { format } = settings;
  const ellipsis = countTokens("…");

  const entry = remember((index) => toListingEntry(skills[index] as Skill, settings));
  const named = remember((index) => countTokens(format.namePiece(entry(index).name)));
  const described = remember((index) => {
    const { description, ...bare } = entry(index);
    const frame = description === undefined ? bare : { ...bare, description: "" };
    let total = countTokens(format.entryPiece(frame));
    const costs: number[] = [];
    let start = 0;
    const take = (end: number): void => {
      total += countTokens(format.escape((description ?? "").slice(start, end)));
      start = end;
    };
    for (const most of CUTS) {
      if (description === undefined || description.length <= most) break;
      take(Math.max(start, cutPoint(description, most)));
      costs.push(total + ellipsis);
    }
    take(description?.length ?? 0);
    return { costs, full: total };
  });

  return {
    entry,
    cost(index, level) {
      if (level === COUNTED) return 0;
      if (level === NAMED) return named(index);
      const { costs, full } = described(index);
      return costs[level - FIRST_CUT] ?? full;
    },
  };
}

function remember<Value>(compute: (index: number) => Value): (index: number) => Value {
  const known: Value[] = [];
  return (index) => {
    known[index] ??= compute(index);
    return known[index] as Value;
  };
}
