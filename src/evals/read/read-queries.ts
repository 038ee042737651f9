/** `eval_queries.json`: requests with whether the skill is the one for them. A list of objects, and nothing else. */
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { showValue } from "../../validate/report.ts";
import type { TriggerQuery } from "../eval-set.ts";
import { isRecord, isText, type JsonFile, readJsonFile } from "./json-file.ts";

/** Where it is looked for in a skill's folder, in this order. */
export const QUERY_FILES = [
  "evals/eval_queries.json",
  "eval_queries.json",
  "evals/trigger-eval.json",
] as const;

export interface QueriesReading {
  readonly queries: readonly TriggerQuery[];
  readonly diagnostics: readonly Diagnostic[];
}

const MOST_QUERIES = 500;
const SHAPE = 'A query is {"query": "…", "should_trigger": true}.';

export function readQueries(path: string): QueriesReading {
  const read = readJsonFile(path);
  if (!read.ok) return { queries: [], diagnostics: [read.diagnostic] };
  const { file } = read;
  const list = isRecord(file.value) ? file.value.queries : file.value;
  if (!Array.isArray(list)) {
    return { queries: [], diagnostics: [refuse(file, [], "The file is no list of queries.")] };
  }
  const at = isRecord(file.value) ? ["queries"] : [];
  const diagnostics: Diagnostic[] = [];
  const seen = new Set<string>();
  const queries = list.slice(0, MOST_QUERIES).flatMap((value, index) => {
    const place = [...at, String(index)];
    const fault = findFault(value, seen);
    if (fault === undefined) return [toQuery(value)];
    diagnostics.push(refuse(file, place, `Query ${index + 1} ${fault}.`));
    return [];
  });
  if (list.length > MOST_QUERIES) {
    const message = `There are ${list.length} queries; only the first ${MOST_QUERIES} are read.`;
    diagnostics.push(refuse(file, [...at, String(MOST_QUERIES)], message));
  }
  return { queries, diagnostics };
}

function findFault(value: unknown, seen: Set<string>): string | undefined {
  if (!isRecord(value)) return `is ${showValue(value)}; it must be an object`;
  const { query, should_trigger: should } = value;
  if (!isText(query)) return "has no text `query`";
  if (typeof should !== "boolean")
    return `has \`should_trigger\` ${showValue(should)}; it must be true or false`;
  // What begins with a slash is a command: it names its skill, and no model decides.
  if (query.trimStart().startsWith("/"))
    return `begins with a slash: ${showValue(query)} names its skill itself`;
  if (seen.has(query)) return `stands there twice: ${showValue(query)}`;
  seen.add(query);
  return undefined;
}

function toQuery(value: unknown): TriggerQuery {
  const { query, should_trigger: shouldTrigger } = value as { query: string; should_trigger: boolean };
  return { query, shouldTrigger };
}

function refuse(file: JsonFile, at: readonly string[], message: string): Diagnostic {
  return file.report(at, { code: "eval.invalid", severity: "error", message, hint: SHAPE });
}
