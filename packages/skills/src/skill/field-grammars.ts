/** The grammars of values that fields hold: tool patterns, toolset entries, capability ids, Debian package names. */

/**
 * The grammar of `allowed-tools` and its kin: `Bash(git log:*) Read, Write`.
 * Patterns stand apart by spaces or commas outside of parentheses; each is a tool, with or without a scope.
 */
interface ToolPattern {
  readonly tool: string;
  /** What stands in parentheses: `git:*` in `Bash(git:*)`. */
  readonly scope?: string;
}

const SEPARATORS = " ,\t\n\r";
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
    const ends = character === undefined || (depth === 0 && SEPARATORS.includes(character));
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

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth++;
    else if (character === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

/** The grammar of `toolsets`: `path/module:ExportName`, a module in the skill's folder and what it exports. */
interface ToolsetEntry {
  /** Below the skill's folder; its ending may be left out. */
  readonly module: string;
  /** `default` for the default export. */
  readonly exportName: string;
}

const ENTRY = /^(?<module>[^\s:]+):(?<exportName>[A-Za-z_$][\w$]*)$/;

/** `undefined` when it is malformed, or leads out of the folder. */
export function parseToolsetEntry(text: string): ToolsetEntry | undefined {
  const { module = "", exportName = "" } = ENTRY.exec(text)?.groups ?? {};
  const isInside = !/^[/\\~]/.test(module) && !module.split(/[/\\]/).includes("..");
  return module !== "" && isInside ? { module, exportName } : undefined;
}

/** The grammar of capability ids: `namespace.name`, as in `gog.email`. */
const CAPABILITY_ID = /^[a-z0-9][a-z0-9_-]*\.[a-z0-9][a-z0-9_-]*$/;

export function isCapabilityId(text: string): boolean {
  return CAPABILITY_ID.test(text);
}

/**
 * The grammar of Debian package names (Debian Policy, 5.6.1): two or more lower-case letters, digits, `+`, `-` and `.`,
 * the first of them a letter or digit. No version, no architecture, and no `-` at the end, which tells apt to remove.
 */
const PACKAGE_NAME = /^[a-z0-9][a-z0-9+.-]*[a-z0-9+.]$/;
const MAX_LENGTH = 128;

export function isPackageName(text: string): boolean {
  return text.length <= MAX_LENGTH && PACKAGE_NAME.test(text);
}
