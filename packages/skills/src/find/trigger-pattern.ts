/**
 * Patterns come from untrusted authors, so they run on an engine with linear time, and both the text and the compiled
 * pattern are bounded. Loaded when a skill has patterns.
 */
import { done, type Result, refused } from "@metier/base/result";
import { RE2JS } from "re2js";

interface CompiledPattern {
  /** Instructions; the time for a text is at most its length times this. */
  readonly size: number;
  matches(text: string): boolean;
}

/** Refused with the reason, as the end of a sentence. */
type Compilation = Result<CompiledPattern, string>;

const MAX_LENGTH = 1000;

/** Ignores letter case: people write requests as they like. */
export function compileTriggerPattern(pattern: string): Compilation {
  return compilePattern(pattern, RE2JS.CASE_INSENSITIVE);
}

/** One that specifies letters exactly. */
export function compileExactPattern(pattern: string): Compilation {
  return compilePattern(pattern, 0);
}

function compilePattern(pattern: string, flags: number): Compilation {
  if (pattern.length > MAX_LENGTH) {
    return refused(`it has ${pattern.length} characters; the limit is ${MAX_LENGTH}`);
  }
  // The engine would read it as the letter k.
  if (/(?<!\\)(?:\\\\)*\\k</.test(pattern)) return refused("it refers back to a named group");
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern), flags);
    return done({ size: compiled.programSize(), matches: (text: string) => compiled.test(text) });
  } catch (fault) {
    return refused(fault instanceof Error ? fault.message : String(fault));
  }
}
