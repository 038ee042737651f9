/**
 * The pattern of `grep_search`. It comes from a model, so it runs on an engine whose time grows only with the text, and
 * reports the cost of a line; text that isn't a regular expression is searched literally.
 */
import { RE2JS } from "re2js";

export interface LinePattern {
  /** Steps a character of text takes at most. */
  readonly cost: number;
  /** Where the pattern begins to match; -1 when it does not. */
  find(line: string): number;
  /** Why it was treated as plain text although it looks like a regular expression. */
  readonly note?: string;
}

const PLAIN = /^[^\\^$.|?*+()[\]{}]+$/;

export function compileLinePattern(pattern: string, ignoreCase: boolean): LinePattern {
  if (PLAIN.test(pattern) && !ignoreCase) return literal(pattern);
  try {
    const flags = ignoreCase ? RE2JS.CASE_INSENSITIVE : 0;
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern), flags);
    const find = (line: string): number => {
      if (!compiled.test(line)) return -1;
      const matcher = compiled.matcher(line);
      return matcher.find() ? matcher.start() : -1;
    };
    return { cost: compiled.programSize(), find };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const note = `the pattern is no regular expression here (${why}), so it was searched for as plain text`;
    return { ...(ignoreCase ? literalIgnoringCase(pattern) : literal(pattern)), note };
  }
}

function literal(text: string): LinePattern {
  return { cost: 1, find: (line) => line.indexOf(text) };
}

function literalIgnoringCase(text: string): LinePattern {
  const compiled = RE2JS.compile(RE2JS.quote(text), RE2JS.CASE_INSENSITIVE);
  return { cost: compiled.programSize(), find: (line) => (compiled.test(line) ? 0 : -1) };
}
