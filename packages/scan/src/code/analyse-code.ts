/** Analyzes all pieces of a skill's code with their grammars: what they do, and what could not be followed. */
import type { parse as parseShell } from "unbash";
import type { ScanLimits, SkippedPart } from "../scanned-skill.ts";
import { type Act, type CodePart, NO_TAINTS, type Taints } from "./code-part.ts";
import { followLines } from "./follow-lines.ts";
import { followPrograms, type Program } from "./follow-program.ts";
import { followShell } from "./follow-shell.ts";
import { lowerJavascript } from "./lower-javascript.ts";
import { lowerPython } from "./lower-python.ts";
import { loadParsers, type Parsers, tooLong } from "./program.ts";

/** Deeper nesting of code within code is only there to confuse. */
const MOST_NESTING = 6;

export async function analyseCode(
  parts: readonly CodePart[],
  limits: ScanLimits,
): Promise<Pick<Analysis, "acts" | "skipped">> {
  if (parts.length === 0) return { acts: [], skipped: [] };
  shell ??= (await import("unbash")).parse;
  const parse = shell;
  const followWith = (parsers: Parsers | undefined): Analysis => {
    const analysis = new Analysis(parsers, parse, limits.codeCharacters);
    analysis.followAll(parts);
    return analysis;
  };
  // Most skills are text with a few commands: the other grammars are loaded only if something needs them.
  const isNeeded = parts.some(({ language }) => language === "python" || language === "javascript");
  const first = isNeeded ? undefined : followWith(undefined);
  const { acts, skipped } = first && !first.lacksParsers ? first : followWith(await loadParsers(limits));
  return { acts, skipped };
}

/** Asking again costs as much as a short skill. */
let shell: typeof parseShell | undefined;

class Analysis {
  readonly acts: Act[] = [];
  readonly skipped: SkippedPart[] = [];
  /** Code within code needs a grammar that was not loaded. */
  lacksParsers = false;
  readonly #parsers: Parsers | undefined;
  readonly #parseShell: typeof parseShell;
  readonly #most: number;
  #nesting = 0;

  constructor(parsers: Parsers | undefined, shell: typeof parseShell, mostCharacters: number) {
    this.#most = mostCharacters;
    this.#parsers = parsers;
    this.#parseShell = shell;
  }

  /** Scripts of one language are followed together, since one may import another. */
  followAll(parts: readonly CodePart[]): void {
    const isScript = ({ kind, language }: CodePart): boolean =>
      kind === "script" && (language === "python" || language === "javascript");
    for (const language of ["python", "javascript"]) {
      const scripts = parts.filter((part) => isScript(part) && part.language === language);
      const programs = scripts.flatMap((part) => this.#readProgram(part) ?? []);
      this.acts.push(...followPrograms(programs, (inner) => this.follow(inner)));
    }
    for (const part of parts) if (!isScript(part)) this.follow(part);
  }

  #readProgram(part: CodePart): Program | undefined {
    try {
      if (this.#parsers === undefined) {
        this.lacksParsers = true;
        return undefined;
      }
      const isPython = part.language === "python";
      const tree = isPython ? this.#parsers.python(part.text) : this.#parsers.javascript(part.text);
      if (tree.ok)
        return { part, statements: (isPython ? lowerPython : lowerJavascript)(tree.value, part.text) };
      this.#skip(part, tree.refusal);
    } catch (error) {
      this.#skip(part, describeFault(error));
    }
    return undefined;
  }

  /** The taints of the code's output. */
  follow(part: CodePart): Taints {
    if (this.#nesting >= MOST_NESTING)
      return this.#skip(part, `code is nested ${MOST_NESTING} levels deep in other code`);
    this.#nesting++;
    try {
      return this.#followLanguage(part);
    } catch (error) {
      // A parser that gives up must neither end the scan nor count as "nothing found".
      return this.#skip(part, describeFault(error));
    } finally {
      this.#nesting--;
    }
  }

  #followLanguage(part: CodePart): Taints {
    if (part.language === "shell") return this.#followShell(part);
    if (part.language !== "python" && part.language !== "javascript") {
      const acts = followLines(part, (inner) => this.follow(inner));
      if (!part.isTrial) this.acts.push(...acts);
      return NO_TAINTS;
    }
    const program = this.#readProgram(part);
    const acts = program ? followPrograms([program], (inner) => this.follow(inner)) : [];
    if (!part.isTrial) this.acts.push(...acts);
    return NO_TAINTS;
  }

  #followShell(part: CodePart): Taints {
    if (part.text.length > this.#most) return this.#skip(part, tooLong(part.text.length, this.#most));
    const { acts, output } = followShell(this.#parseShell(part.text), part, (inner) => this.follow(inner));
    this.acts.push(...acts);
    return output;
  }

  #skip({ path, isTrial }: CodePart, reason: string): Taints {
    if (!isTrial) this.skipped.push({ path, reason: `Not analyzed: ${reason}.` });
    return NO_TAINTS;
  }
}

function describeFault(error: unknown): string {
  return `the code cannot be analyzed (${(error as Error).message.slice(0, 80)})`;
}
