/** How well a skill is tested: its test files, evals and trigger queries, each with the number of cases. */
import { isJsonObject } from "@metier/base/json";
import { EVALS_FILE, QUERY_FILES } from "@metier/skills/formats";
import type { ApiSkill } from "../api.ts";
import type { KnownSkill } from "./know-skills.ts";
import { readSkillFile } from "./skill-files.ts";

/** Of `evals/evals.json` and the files of queries. */
export function countEvalCases(known: KnownSkill, linkRoots: readonly string[]): ApiSkill["tests"] {
  return [EVALS_FILE, ...QUERY_FILES].flatMap((file) => {
    const text = readSkillFile(known, file, linkRoots)?.text;
    if (text === undefined) return [];
    return [{ file, name: file === EVALS_FILE ? "evals" : "trigger queries", cases: countEntries(text) }];
  });
}

/** A list, or an object with one; 0 for anything else. */
function countEntries(text: string): number {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value.length;
    const lists = isJsonObject(value) ? Object.values(value).filter(Array.isArray) : [];
    return lists.reduce((sum, list) => sum + list.length, 0);
  } catch {
    return 0; // It cannot be read, which `metier validate` says.
  }
}
