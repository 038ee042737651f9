/**
 * The head of a usual skill file: its frontmatter, and the size of its body. Another thread reads it and passes it on, so
 * that most of the file never leaves that thread.
 */
import type { BodyFacts } from "../skill/skill.ts";
import { countLineEnds } from "./source-text.ts";
import { MAX_FRONTMATTER, splitFrontmatter } from "./split-frontmatter.ts";

export interface SkillHead {
  /** The frontmatter without its fences, from line `HEAD_LINE` of the file on. */
  readonly yaml: string;
  /** 1-based line of the file where the body starts. */
  readonly bodyLine: number;
  readonly body: BodyFacts;
}

/** A usual file starts with a fence. */
export const HEAD_LINE = 2;

/** `undefined` for a file with any fault: its whole text is parsed. */
export function readHead(text: string): SkillHead | undefined {
  const { yaml, yamlLine, isClosed, body, bodyLine, faults } = splitFrontmatter(text);
  const isUsual = faults.length === 0 && isClosed && yamlLine === HEAD_LINE;
  if (!isUsual || yaml === undefined || yaml.length > MAX_FRONTMATTER) return undefined;
  return { yaml, bodyLine, body: bodyFacts(body) };
}

export function bodyFacts(body: string): BodyFacts {
  const lines = body === "" ? 0 : countLineEnds(body, 0, body.length) + 1;
  return { lines, characters: body.length };
}
