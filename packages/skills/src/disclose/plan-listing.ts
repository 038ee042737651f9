/**
 * Tier 1 within a token budget. All skills get as much detail as fits for all of them; the rest of the budget goes, one
 * level each, to the nearest scopes first. Every skill is at least named or counted.
 */
import { UsageError } from "@metier/base/errors";
import type { Skill } from "../skill/skill.ts";
import { SCOPES } from "../skill/skill-name.ts";
import { estimateTokens, type TokenCounter } from "./count-tokens.ts";
import {
  cutPoint,
  type Listing,
  type ListingEntry,
  type ListingOptions,
  SHORT_DESCRIPTION,
  shortenDescription,
  toListingEntry,
  visibleSkills,
} from "./listing.ts";
import {
  activationInstructions,
  emptyListing,
  type ListingSettings,
  listingSettings,
  moreInstructions,
} from "./render-listing.ts";

/** With less, even the line that counts the skills may not fit. */
export const MINIMUM_BUDGET = 128;

/** How to list the skills for a model, and in how many tokens. */
export interface PlanOptions extends ListingOptions {
  /** The most tokens the text may have, at least `MINIMUM_BUDGET`. */
  readonly budget: number;
  /** Default: `estimateTokens`, which is never too low. `loadTokenCounter` fills the budget better. */
  readonly countTokens?: TokenCounter;
}

/** A listing that fits a token budget, and what it left out. */
export interface ListingPlan {
  /** The listing, ready for a prompt. */
  readonly text: string;
  /** How much of each skill is in the text. */
  readonly report: ListingReport;
}

/** How each skill is listed, by name. */
export interface ListingReport {
  /** The requested budget, in tokens. */
  readonly budget: number;
  /** Of the whole text, by the given counter. */
  readonly tokens: number;
  /** Whether the text is within the budget; certain unless the budget is below the minimum. */
  readonly fits: boolean;
  /** Skills listed with everything requested. */
  readonly full: readonly string[];
  /** Skills with a truncated description. */
  readonly shortened: readonly string[];
  /** Skills listed only by name. */
  readonly nameOnly: readonly string[];
  /** Skills only counted, not named. */
  readonly counted: readonly string[];
}

/** A level of detail for each skill, by its index. */
type Levels = readonly number[];

export function planListing(skills: readonly Skill[], options: PlanOptions): ListingPlan {
  const { budget, countTokens = estimateTokens } = options;
  if (!(budget > 0)) {
    throw new UsageError(`The budget is ${budget}; it must be a positive number of tokens.`);
  }
  const settings = listingSettings(options);
  const visible = visibleSkills(skills);
  const planner: Planner = {
    settings,
    costs: pieceCosts(visible, settings, countTokens),
    countTokens,
    order: nearestFirst(visible),
  };
  if (visible.length === 0) return finish(planner, [], emptyListing(settings.format), budget);

  // The pieces add up only roughly to the whole: start a little above the budget and reduce by the excess.
  let allowance = Math.ceil(budget * 1.05) + 10;
  for (let step = 1; allowance > 0; step *= 2) {
    const levels = chooseLevels(planner, allowance);
    const text = settings.format.render(arrange(planner, levels));
    const over = countTokens(text) - budget;
    if (over <= 0) return finish(planner, levels, text, budget);
    allowance -= over * step;
  }
  const levels = visible.map(() => COUNTED);
  const text = settings.format.render({ ...arrange(planner, levels), guidance: "" });
  return finish(planner, levels, text, budget);
}

interface Planner {
  readonly settings: ListingSettings;
  readonly costs: PieceCosts;
  readonly countTokens: TokenCounter;
  /** The indexes of the skills, those that keep their words longest first. */
  readonly order: readonly number[];
}

function nearestFirst(skills: readonly Skill[]): readonly number[] {
  const rank = skills.map(({ scope }) => SCOPES.indexOf(scope));
  return skills.map((_, index) => index).sort((a, b) => (rank[b] ?? 0) - (rank[a] ?? 0) || a - b);
}

/** The highest level at which all fit, then one level more for as many as still fit. */
function chooseLevels(planner: Planner, allowance: number): Levels {
  const { costs, order } = planner;
  let level = FULL;
  let left = roomAt(planner, level, allowance);
  while (left < 0 && level > COUNTED) left = roomAt(planner, --level, allowance);
  const levels = order.map(() => level);
  if (level === FULL) return levels;
  for (const index of order) {
    left -= costs.cost(index, level + 1) - costs.cost(index, level);
    if (left < 0) break;
    levels[index] = level + 1;
  }
  return levels;
}

/** The remaining allowance with all skills at that level; below 0 as soon as it is used up. */
function roomAt(planner: Planner, level: number, allowance: number): number {
  let left = allowance - frameCost(planner, level);
  for (const index of planner.order) {
    if (left < 0) break;
    left -= planner.costs.cost(index, level);
  }
  return left;
}

/** What a listing costs besides its skills. */
function frameCost({ settings, order, countTokens }: Planner, level: number): number {
  const sample = { name: "sample" };
  const total = order.length;
  const untold = { described: 1, named: total, counted: level === COUNTED ? total : 0 };
  const listing: Listing = {
    entries: [sample],
    names: level <= NAMED ? [sample.name] : [],
    guidance: activationInstructions(settings.activation, settings.location),
    more: level <= NAMED ? moreInstructions(untold, settings.activation) : "",
  };
  const { format } = settings;
  return countTokens(format.render(listing)) - countTokens(format.entryPiece(sample));
}

function arrange({ settings, costs }: Planner, levels: Levels): Listing {
  const entries: ListingEntry[] = [];
  const names: string[] = [];
  levels.forEach((level, index) => {
    if (level === NAMED) names.push(costs.entry(index).name);
    else if (level > NAMED) entries.push(cutEntry(costs.entry(index), level));
  });
  const counted = levels.length - entries.length - names.length;
  const untold = isNameAll(settings)
    ? { described: entries.length + names.length, named: 0, counted }
    : { described: entries.length, named: names.length, counted };
  return {
    entries,
    names,
    guidance: activationInstructions(settings.activation, settings.location),
    more: moreInstructions(untold, settings.activation),
  };
}

function cutEntry(entry: ListingEntry, level: number): ListingEntry {
  const most = CUTS[level - FIRST_CUT];
  if (most === undefined || entry.description === undefined) return entry;
  return { ...entry, description: shortenDescription(entry.description, most) };
}

/** Whether naming a skill lists it in full, since only names were requested. */
function isNameAll({ descriptions, location }: ListingSettings): boolean {
  return descriptions === "none" && location === "none";
}

function finish(planner: Planner, levels: Levels, text: string, budget: number): ListingPlan {
  const report: Record<Detail, string[]> = { full: [], shortened: [], nameOnly: [], counted: [] };
  levels.forEach((level, index) => {
    const entry = planner.costs.entry(index);
    report[detailOf(entry, level, planner.settings)].push(entry.name);
  });
  const tokens = planner.countTokens(text);
  return { text, report: { budget, tokens, fits: tokens <= budget, ...report } };
}

type Detail = "full" | "shortened" | "nameOnly" | "counted";

function detailOf(entry: ListingEntry, level: number, settings: ListingSettings): Detail {
  if (level === COUNTED) return "counted";
  if (level === NAMED) return isNameAll(settings) ? "full" : "nameOnly";
  const most = CUTS[level - FIRST_CUT] ?? Number.POSITIVE_INFINITY;
  return (entry.description?.length ?? 0) <= most ? "full" : "shortened";
}

// What each skill costs in a listing at each level of detail.

/** The lengths, in characters, to which descriptions are truncated. */
const CUTS: readonly number[] = [SHORT_DESCRIPTION, 100, 160, 250, 400, 640];

/** Levels of detail: counted, named, truncated to `CUTS[level - FIRST_CUT]`, full. */
const COUNTED = 0;
const NAMED = 1;
const FIRST_CUT = 2;
const FULL: number = FIRST_CUT + CUTS.length;

interface PieceCosts {
  /** The skill as it is listed in full. */
  entry(index: number): ListingEntry;
  /** Tokens of the skill at that level. */
  cost(index: number, level: number): number;
}

/**
 * Every piece is counted once, on demand: a description in the segments between its cuts, so that all its lengths
 * together cost as much as the longest.
 */
function pieceCosts(
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
