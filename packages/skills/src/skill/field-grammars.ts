/** The grammars of field values: tool patterns, toolset entries, capability ids, Debian package names. */

/**
 * The grammar of `allowed-tools` and similar fields: `Bash(git log:*) Read, Write`. Patterns are separated by spaces or
 * commas outside parentheses; each is a tool with an optional scope.
 */
interface ToolPattern {
  readonly tool: string;
  /** The part in parentheses: `git:*` in `Bash(git:*)`. */
  readonly scope?: string;
}

const SEPARATORS = " ,\t\n\r";
const TOOL_NAME = /^[\p{L}_*][^\s(),]*$/u;

/** Splits a line of patterns in one pass. Malformed ones stay in the result as written. */
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

/** `Bash(git:*)` → tool `Bash`, scope `git:*`. `undefined` if malformed. */
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

/** The grammar of `toolsets`: `path/module:ExportName`, a module in the skill's folder and its export. */
interface ToolsetEntry {
  /** In the skill's folder; the extension is optional. */
  readonly module: string;
  /** `default` for the default export. */
  readonly exportName: string;
}

const ENTRY = /^(?<module>[^\s:]+):(?<exportName>[A-Za-z_$][\w$]*)$/;

/** `undefined` if it is malformed, or leads out of the folder. */
export function parseToolsetEntry(text: string): ToolsetEntry | undefined {
  const { module = "", exportName = "" } = ENTRY.exec(text)?.groups ?? {};
  const isInside = !/^[/\\~]/.test(module) && !module.split(/[/\\]/).includes("..");
  return module !== "" && isInside ? { module, exportName } : undefined;
}

/** The grammar of capability ids: `namespace.name`, such as `gog.email`. */
const CAPABILITY_ID = /^[a-z0-9][a-z0-9_-]*\.[a-z0-9][a-z0-9_-]*$/;

export function isCapabilityId(text: string): boolean {
  return CAPABILITY_ID.test(text);
}

/**
 * The grammar of Debian package names (Debian Policy, 5.6.1): two or more lowercase letters, digits, `+`, `-` and `.`,
 * starting with a letter or digit. No version, no architecture, and no trailing `-`, which tells apt to remove.
 */
const PACKAGE_NAME = /^[a-z0-9][a-z0-9+.-]*[a-z0-9+.]$/;
const MAX_LENGTH = 128;

export function isPackageName(text: string): boolean {
  return text.length <= MAX_LENGTH && PACKAGE_NAME.test(text);
}
