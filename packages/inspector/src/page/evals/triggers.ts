/** Reads a `triggers.json`; parts that don't fit are left out. Pure. */
import { isJsonObject, type Json } from "@metier/base/json";

interface TriggerQueryResult {
  readonly query: string;
  readonly shouldTrigger: boolean;
  readonly rate: number;
  readonly set: string;
  readonly isRight: boolean;
  /** Skills that were used instead, and what went wrong. */
  readonly instead: readonly string[];
}

export interface TriggerResults {
  readonly model: string;
  readonly runs: number;
  readonly threshold: number;
  readonly isReplayed: boolean;
  readonly sets: readonly { readonly name: string; readonly passed: number; readonly total: number }[];
  readonly queries: readonly TriggerQueryResult[];
}

const SETS = ["train", "validation", "all"] as const;

export function readTriggers(value: Json): TriggerResults | undefined {
  if (!isJsonObject(value) || !Array.isArray(value.queries)) return undefined;
  const summary = isJsonObject(value.summary) ? value.summary : {};
  return {
    model: typeof value.model === "string" ? value.model : "",
    runs: numberOf(value.runs_per_query),
    threshold: numberOf(value.threshold),
    isReplayed: value.replayed === true,
    sets: SETS.flatMap((name) => {
      const set = summary[name];
      return isJsonObject(set) ? [{ name, passed: numberOf(set.passed), total: numberOf(set.total) }] : [];
    }),
    queries: value.queries.flatMap(readQuery),
  };
}

function readQuery(value: Json): readonly TriggerQueryResult[] {
  if (!isJsonObject(value) || typeof value.query !== "string") return [];
  const { query, should_trigger, trigger_rate, set, passed, instead, errors } = value;
  const others = isJsonObject(instead)
    ? Object.entries(instead).map(([name, count]) => `${name} (${count})`)
    : [];
  const faults = Array.isArray(errors) ? errors.filter((one: Json) => typeof one === "string") : [];
  return [
    {
      query,
      shouldTrigger: should_trigger === true,
      rate: numberOf(trigger_rate),
      set: typeof set === "string" ? set : "",
      isRight: passed === true,
      instead: [...others, ...faults.map(String)],
    },
  ];
}

function numberOf(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}
