/** Requests whose skill is known, from files: those beside each skill, and one for a whole catalog. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { hasFolder } from "../../disclose/skill-folder.ts";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import type { Skill } from "../../skill/skill.ts";
import { showValue } from "../../validate/report.ts";
import { isRecord, isText, readJsonFile } from "../read/json-file.ts";
import { QUERY_FILES, readQueries } from "../read/read-queries.ts";

export interface RoutingQuery {
  readonly query: string;
  /** The skill for it; `null`: none is. Absent: any but `not`. */
  readonly skill?: string | null;
  readonly not?: string;
}

export interface RoutingQueries {
  readonly queries: readonly RoutingQuery[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The file with a skill's queries, where it has one. */
export function findQueryFile(skill: Skill): string | undefined {
  if (!hasFolder(skill)) return undefined;
  return QUERY_FILES.map((path) => join(skill.directory, path)).find((path) => existsSync(path));
}

/** What the skills of a catalog say themselves: a query that is not for one says nothing about the others. */
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

const SHAPE = 'A query is {"query": "…", "skill": "name"}, or {"query": "…", "skill": null} for none.';

/** `[{ "query", "skill" }]` */
export function readRoutingQueries(path: string, names: readonly string[]): RoutingQueries {
  const read = readJsonFile(path);
  if (!read.ok) return { queries: [], diagnostics: [read.diagnostic] };
  const { value, report } = read.file;
  const refuse = (at: readonly string[], message: string): Diagnostic =>
    report(at, { code: "eval.invalid", severity: "error", message, hint: SHAPE });
  if (!Array.isArray(value))
    return { queries: [], diagnostics: [refuse([], "The file is no list of queries.")] };
  const diagnostics: Diagnostic[] = [];
  const queries = value.flatMap((entry: unknown, index): readonly RoutingQuery[] => {
    const { query, skill } = isRecord(entry) ? entry : {};
    const isKnown = skill === null || (typeof skill === "string" && names.includes(skill));
    if (isText(query) && isKnown) return [{ query, skill }];
    const fault = isText(query)
      ? `names the skill ${showValue(skill)}, which cannot be used here`
      : "has no text `query`";
    diagnostics.push(refuse([String(index)], `Query ${index + 1} ${fault}.`));
    return [];
  });
  return { queries, diagnostics };
}
