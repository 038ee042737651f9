/**
 * The grammar of `allowed-tools` and its kin: `Bash(git log:*) Read, Write`.
 * Patterns stand apart by spaces or commas outside of parentheses; each is a tool, with or without a scope.
 */
export interface ToolPattern {
  readonly tool: string;
  /** What stands in parentheses: `git:*` in `Bash(git:*)`. */
  readonly scope?: string;
}

const TOOL_NAME = /^[\p{L}_*][^\s(),]*$/u;

/** Takes a line of patterns apart, in one pass. What is malformed stays in the result as it was written. */
export function splitToolPatterns(text: string): readonly string[] {
  const patterns: string[] = [];
  let start = 0;
  let depth = 0;
  for (let index = 0; index <= text.length; index++) {
    const character = text[index];
    if (character === "(") depth++;
    else if (character === ")") depth = Math.max(0, depth - 1);
    const ends = character === undefined || (depth === 0 && isSeparator(character));
    if (!ends) continue;
    const pattern = text.slice(start, index).trim();
    if (pattern !== "") patterns.push(pattern);
    start = index + 1;
  }
  return patterns;
}

/** `Bash(git:*)` → tool `Bash`, scope `git:*`. `undefined` when it is malformed. */
export function parseToolPattern(text: string): ToolPattern | undefined {
  const open = text.indexOf("(");
  const tool = open < 0 ? text : text.slice(0, open);
  if (!TOOL_NAME.test(tool)) return undefined;
  if (open < 0) return { tool };
  const scope = text.slice(open + 1, -1).trim();
  return text.endsWith(")") && scope !== "" && isBalanced(scope) ? { tool, scope } : undefined;
}

function isSeparator(character: string): boolean {
  return (
    character === " " || character === "," || character === "\t" || character === "\n" || character === "\r"
  );
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth++;
    else if (character === ")" && --depth < 0) return false;
  }
  return depth === 0;
}
