/**
 * Tier 1 within a token budget. All skills are told in as much detail as fits for all of them; what is left of the
 * budget goes, one level each, to the nearest scopes first. Every skill is at least named or counted.
 */
import { UsageError } from "../foundation/errors.ts";
import { SCOPES } from "../skill/scope.ts";
import type { Skill } from "../skill/skill.ts";
import { activationInstructions, moreInstructions } from "./activation-instructions.ts";
import { estimateTokens, type TokenCounter } from "./count-tokens.ts";
import type { Listing, ListingEntry, ListingOptions } from "./listing.ts";
import { COUNTED, CUTS, FIRST_CUT, FULL, NAMED, type PieceCosts, pieceCosts } from "./piece-costs.ts";
import { emptyListing, type ListingSettings, listingSettings } from "./render-listing.ts";
import { shortenDescription } from "./shorten-description.ts";
import { visibleSkills } from "./visible-skills.ts";

/** With less, not even the line that counts the skills is certain to fit. */
export const MINIMUM_BUDGET = 128;

export interface PlanOptions extends ListingOptions {
  /** The most tokens the text may have, at least `MINIMUM_BUDGET`. */
  readonly budget: number;
  /** Default: `estimateTokens`, which is never too low. `loadTokenCounter` fills the budget better. */
  readonly countTokens?: TokenCounter;
}

export interface ListingPlan {
  readonly text: string;
  readonly report: ListingReport;
}

/** What became of each skill, by name. */
export interface ListingReport {
  readonly budget: number;
  /** Of the whole text, by the counter that was given. */
  readonly tokens: number;
  /** Whether the text is within the budget; certain unless the budget is below the minimum. */
  readonly fits: boolean;
  readonly full: readonly string[];
  readonly shortened: readonly string[];
  readonly nameOnly: readonly string[];
  readonly counted: readonly string[];
}

/** A level of detail for each skill, by its index. */
type Levels = readonly number[];

export function planListing(skills: readonly Skill[], options: PlanOptions): ListingPlan {
  const { budget, countTokens = estimateTokens } = options;
  if (!(budget > 0)) {
    throw new UsageError(`The budget is ${budget}; it must be a number of tokens above 0.`);
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

  // The pieces add up to about the whole, not exactly: begin a little above the budget and come down by what is over.
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
  /** The indexes of the skills, those first that keep their words longest. */
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

/** What is left of the allowance with all skills at that level; below 0 as soon as it is used up. */
function roomAt(planner: Planner, level: number, allowance: number): number {
  let left = allowance - frameCost(planner, level);
  for (const index of planner.order) {
    if (left < 0) break;
    left -= planner.costs.cost(index, level);
  }
  return left;
}

/** What a listing costs beside its skills. */
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

/** Whether a skill that is named is told in full, since nothing but its name was asked for. */
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
