/**
 * Which skills of the catalog are shown: reads the filter from the address and applies it to thousands of skills.
 * Pure.
 */
import type { ApiCatalogSkill } from "@metier/service/api";

type Status = ApiCatalogSkill["status"];

export const STATUSES: readonly Status[] = ["enabled", "unavailable", "disabled", "shadowed", "invalid"];

const ORDERS = ["name", "tokens", "problems"] as const;

export interface CatalogFilter {
  readonly text: string;
  readonly status?: Status | undefined;
  readonly trust?: ApiCatalogSkill["trust"] | undefined;
  readonly scope?: string | undefined;
  readonly audience?: "models" | "users" | undefined;
  readonly hasProblems: boolean;
  readonly order: (typeof ORDERS)[number];
}

/** The part after `?`; an unknown word counts as absent. */
export function readCatalogFilter(query: ReadonlyMap<string, string>): CatalogFilter {
  return {
    text: query.get("q") ?? "",
    status: oneOf(STATUSES, query.get("status")),
    trust: oneOf(["trusted", "untrusted"] as const, query.get("trust")),
    scope: query.get("scope"),
    audience: oneOf(["models", "users"] as const, query.get("for")),
    hasProblems: query.get("problems") === "yes",
    order: oneOf(ORDERS, query.get("sort")) ?? "name",
  };
}

function oneOf<Word extends string>(words: readonly Word[], given: string | undefined): Word | undefined {
  return words.find((word) => word === given);
}

/** A skill with its words in lower case, made once per catalog: typing must not convert ten thousand texts again. */
interface SearchableSkill {
  readonly skill: ApiCatalogSkill;
  readonly text: string;
}

export function indexSkills(skills: readonly ApiCatalogSkill[]): readonly SearchableSkill[] {
  return skills.map((skill) => {
    const { name, description, scope, reason = "", tags } = skill;
    return { skill, text: [name, description, scope, reason, ...tags].join("\n").toLowerCase() };
  });
}

export interface FilteredSkills {
  readonly rows: readonly ApiCatalogSkill[];
  /** How many skills of each status match all other filters. */
  readonly counts: Readonly<Record<Status, number>>;
}

export function filterSkills(skills: readonly SearchableSkill[], filter: CatalogFilter): FilteredSkills {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = { enabled: 0, unavailable: 0, disabled: 0, shadowed: 0, invalid: 0 };
  const rows: ApiCatalogSkill[] = [];
  for (const { skill, text } of skills) {
    if (!fits(skill, filter) || !words.every((word) => text.includes(word))) continue;
    counts[skill.status]++;
    if (filter.status === undefined || filter.status === skill.status) rows.push(skill);
  }
  return { rows: inOrder(rows, filter.order), counts };
}

/** Everything but the text and the status. */
function fits(skill: ApiCatalogSkill, { trust, scope, audience, hasProblems }: CatalogFilter): boolean {
  if (trust !== undefined && skill.trust !== trust) return false;
  if (scope !== undefined && skill.scope !== scope) return false;
  if (hasProblems && skill.errors + skill.warnings === 0) return false;
  if (audience === "models") return skill.isForModels;
  return audience === undefined || skill.isForUsers;
}

/** They come sorted by name. */
function inOrder(
  rows: readonly ApiCatalogSkill[],
  order: CatalogFilter["order"],
): readonly ApiCatalogSkill[] {
  if (order === "name") return rows;
  const sizeOf = order === "tokens" ? tokensOf : problemsOf;
  return rows.toSorted((a, b) => sizeOf(b) - sizeOf(a));
}

function tokensOf({ listingTokens, bodyTokens }: ApiCatalogSkill): number {
  return listingTokens + bodyTokens;
}

/** One error weighs more than all warnings. */
function problemsOf({ errors, warnings }: ApiCatalogSkill): number {
  return errors * 1_000_000 + warnings;
}

export function listScopes(skills: readonly ApiCatalogSkill[]): readonly string[] {
  return [...new Set(skills.map(({ scope }) => scope))].sort();
}
