/** The slider for the listing's budget, up to where every skill fits in full. Pure. */
import type { ApiCatalogSkill } from "@metier/service/api";

interface BudgetRange {
  readonly least: number;
  readonly most: number;
  readonly step: number;
}

/** The API's default. */
const USUAL = 4_000;
const STEPS = 100;

export function budgetRange(skills: readonly ApiCatalogSkill[]): BudgetRange {
  const needed = skills
    .filter(({ status, isForModels }) => status === "enabled" && isForModels)
    .reduce((sum, { listingTokens }) => sum + listingTokens, 0);
  const step = Math.max(50, Math.ceil((needed * 1.25) / STEPS / 50) * 50);
  return { least: step, most: Math.max(USUAL, step * STEPS), step };
}

export function readBudget(given: string | undefined, { least, most }: BudgetRange): number {
  const budget = Number(given);
  if (given === undefined || !Number.isInteger(budget)) return Math.min(USUAL, most);
  return Math.min(most, Math.max(least, budget));
}
