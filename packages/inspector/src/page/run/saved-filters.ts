/** Named filters: the built-in ones and the reader's own. Pure. */
import { FILTER_NAMES, type ListedRunFilter } from "./filter-runs.ts";

export interface SavedFilter {
  readonly name: string;
  readonly query: Readonly<Record<string, string>>;
}

export const BUILT_IN: readonly SavedFilter[] = [
  { name: "Failed today", query: { status: "failed,limited,refused", time: "today" } },
  { name: "Waiting", query: { status: "waiting" } },
  { name: "Expensive", query: { cost: "0.5", time: "30d" } },
];

const MOST_FILTERS = 50;
const MOST_NAME = 60;

/** Reads stored filters, which anyone may have written. */
export function readSaved(text: string | null): readonly SavedFilter[] {
  const parsed = parse(text);
  if (!Array.isArray(parsed)) return [];
  return parsed.slice(0, MOST_FILTERS).flatMap((entry: unknown) => {
    if (typeof entry !== "object" || entry === null) return [];
    const { name, query } = entry as { readonly name?: unknown; readonly query?: unknown };
    if (typeof name !== "string" || typeof query !== "object" || query === null) return [];
    return [{ name: name.slice(0, MOST_NAME), query: keepKnown(query as Record<string, unknown>) }];
  });
}

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "[]");
  } catch {
    return []; // Something else was stored there; the next saved filter replaces it.
  }
}

function keepKnown(query: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const kept = FILTER_NAMES.flatMap((name) => {
    const value = query[name];
    return typeof value === "string" && value !== "" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(kept);
}

/** Adds this one; replaces one with the same name. */
export function addSaved(
  saved: readonly SavedFilter[],
  name: string,
  filter: ListedRunFilter,
): readonly SavedFilter[] {
  const plain = name.trim().slice(0, MOST_NAME);
  const others = saved.filter((one) => one.name !== plain);
  return [...others, { name: plain, query: keepKnown({ ...filter }) }].slice(-MOST_FILTERS);
}

export function isSameFilter({ query }: SavedFilter, filter: ListedRunFilter): boolean {
  return FILTER_NAMES.every((name) => (query[name] ?? "") === filter[name]);
}
