/**
 * Reads requests from files: a skill's `eval_queries.json` says whether the skill should handle each, a file for a
 * whole catalog says which skill should. Only a list of objects.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic, DiagnosticCode, Severity } from "@metier/base/diagnostic";
import { readBounded } from "@metier/base/files";
import { isJsonObject } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import type { ConfigSyntaxError } from "../config/formats/config-document.ts";
import { parseLocatedJson } from "../config/formats/json-document.ts";
import { hasFolder } from "../disclose/resources.ts";
import type { Skill } from "../skill/skill.ts";
import type { TriggerQuery } from "./eval-case.ts";

/** Where to look in a skill's folder, in this order. */
export const QUERY_FILES = [
  "evals/eval_queries.json",
  "eval_queries.json",
  "evals/trigger-eval.json",
] as const;

interface QueriesReading<Query> {
  readonly queries: readonly Query[];
  readonly diagnostics: readonly Diagnostic[];
}

interface ListForm {
  /** What a query looks like. */
  readonly hint: string;
  /** The list may also be in an object, under this key. */
  readonly key?: string;
  readonly most?: number;
}

/** `readQuery` returns what is wrong with an entry, as the end of a sentence. */
function readList<Query>(
  path: string,
  { hint, key, most = Number.POSITIVE_INFINITY }: ListForm,
  readQuery: (entry: unknown) => Result<Query, string>,
): QueriesReading<Query> {
  const read = readJsonFile(path);
  if (!read.ok) return { queries: [], diagnostics: [read.refusal] };
  const { value, report } = read.value;
  const refuse = (at: readonly string[], message: string): Diagnostic =>
    report(at, { code: "eval.invalid", severity: "error", message, hint });
  const [list, at] = key !== undefined && isJsonObject(value) ? [value[key], [key]] : [value, []];
  if (!Array.isArray(list))
    return { queries: [], diagnostics: [refuse([], "The file is not a list of queries.")] };
  const diagnostics: Diagnostic[] = [];
  const queries = list.slice(0, most).flatMap((entry: unknown, index) => {
    const query = readQuery(entry);
    if (query.ok) return [query.value];
    diagnostics.push(refuse([...at, String(index)], `Query ${index + 1} ${query.refusal}.`));
    return [];
  });
  if (list.length > most) {
    const message = `There are ${list.length} queries; only the first ${most} are used.`;
    diagnostics.push(refuse([...at, String(most)], message));
  }
  return { queries, diagnostics };
}

const TRIGGER_LIST: ListForm = {
  hint: 'A query is {"query": "…", "should_trigger": true}.',
  key: "queries",
  most: 500,
};

export function readQueries(path: string): QueriesReading<TriggerQuery> {
  const seen = new Set<string>();
  return readList(path, TRIGGER_LIST, (entry) => {
    if (!isJsonObject(entry)) return refused(`is ${showValue(entry)}; it must be an object`);
    const { query, should_trigger: shouldTrigger } = entry;
    if (!isFilledText(query)) return refused("has no `query` string");
    if (typeof shouldTrigger !== "boolean")
      return refused(`has \`should_trigger\` ${showValue(shouldTrigger)}; it must be true or false`);
    // A leading slash makes it a command: it names its skill, and no model decides.
    if (query.trimStart().startsWith("/"))
      return refused(`starts with a slash: ${showValue(query)} already names its skill`);
    if (seen.has(query)) return refused(`appears twice: ${showValue(query)}`);
    seen.add(query);
    return done({ query, shouldTrigger });
  });
}

/** A request whose skill is known. */
export interface RoutingQuery {
  readonly query: string;
  /** The skill for it; `null`: none. Absent: any but `not`. */
  readonly skill?: string | null;
  readonly not?: string;
}

export type RoutingQueries = QueriesReading<RoutingQuery>;

/** The file with a skill's queries, if it has one. */
export function findQueryFile(skill: Skill): string | undefined {
  if (!hasFolder(skill)) return undefined;
  return QUERY_FILES.map((path) => join(skill.directory, path)).find((path) => existsSync(path));
}

/** What a catalog's skills say themselves: a query that is not for one says nothing about the others. */
export function collectQueries(skills: readonly Skill[]): RoutingQueries {
  const read = skills.flatMap((skill) => {
    const file = findQueryFile(skill);
    return file === undefined ? [] : [{ skill, ...readQueries(file) }];
  });
  return {
    queries: read.flatMap(({ skill, queries }) =>
      queries.map(({ query, shouldTrigger }) =>
        shouldTrigger ? { query, skill: skill.name } : { query, not: skill.name },
      ),
    ),
    diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
  };
}

const ROUTING_LIST: ListForm = {
  hint: 'A query is {"query": "…", "skill": "name"}, or {"query": "…", "skill": null} for none.',
};

/** `[{ "query", "skill" }]` */
export function readRoutingQueries(path: string, names: readonly string[]): RoutingQueries {
  return readList(path, ROUTING_LIST, (entry) => {
    const { query, skill } = isJsonObject(entry) ? entry : {};
    if (!isFilledText(query)) return refused("has no `query` string");
    const isKnown = skill === null || (typeof skill === "string" && names.includes(skill));
    if (isKnown) return done({ query, skill });
    return refused(`names the skill ${showValue(skill)}, which is not usable here`);
  });
}

// Untrusted JSON: an author's file with the line of everything in it, and the object in a model's answer. Problems in a
// file are diagnostics.

const MOST_BYTES = 4 * 1024 * 1024;

interface FoundFault {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly message: string;
  readonly hint: string;
}

export interface JsonFile {
  readonly value: unknown;
  /** A diagnostic at the value at `path`, or the nearest one above it. */
  report(path: readonly string[], fault: FoundFault): Diagnostic;
}

export function readJsonFile(path: string): Result<JsonFile, Diagnostic> {
  const code = "eval.unreadable";
  const read = readBounded(path, MOST_BYTES);
  if (!read.ok) {
    const hint = "Make it a readable JSON file of at most 4 MiB.";
    return refused({ code, severity: "error", path, message: read.message, hint });
  }
  try {
    const { value, locate } = parseLocatedJson(read.text.replace(/^\uFEFF/, ""));
    const report: JsonFile["report"] = (at, fault) => ({
      ...fault,
      path,
      ...(locate(at) ?? { line: 1, column: 1 }),
    });
    return done({ value, report });
  } catch (fault) {
    const { message: detail, position } = fault as ConfigSyntaxError;
    const message = `\`${path}\` is not valid JSON: ${detail}.`;
    return refused({ code, severity: "error", path, message, ...position, hint: "Fix the error there." });
  }
}

/** A non-empty string. */
export function isFilledText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
