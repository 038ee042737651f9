/** What a single line of frontmatter looks like, without parsing YAML. Used where fences or YAML are broken. */

const KEY = /^(?:[\p{L}_][\p{L}\p{N}_./-]*|"[^"]*"|'[^']*')[ \t]*:(?=\s|$)/u;
const LOWER_CASE_KEY = /^[a-z][\w-]*:(?=\s|$)/;
const LEADING_KEY = /^(?:name|description)[ \t]*:(?=\s|$)/;
const HEADING = /^#{1,6}[ \t]/;
const LIST_ITEM = /^-(?=\s|$)/;
/** Indented, a comment, or the end of a list or map in brackets. */
const CONTINUES = /^[ \t#\]}]/;

/** `key:` or `key: value` at the start of the line. */
export function isKeyLine(line: string): boolean {
  return KEY.test(line);
}

/** The key with its quotes and the colon, as written, or `undefined`. */
export function matchKey(line: string): string | undefined {
  return KEY.exec(line)?.[0];
}

/** `name:` or `description:`: what a frontmatter without its fence is known by. */
export function isLeadingKeyLine(line: string): boolean {
  return LEADING_KEY.test(line);
}

export function isBlankLine(line: string): boolean {
  return line.trim() === "";
}

/**
 * How many of the lines, from the first, are frontmatter that nobody closed: keys, what is indented or listed
 * below them, comments and blank lines. It ends before a Markdown heading and before any other text.
 */
export function countYamlLines(lines: readonly string[]): number {
  let count = 0;
  let previous = "";
  let hasKey = false;
  for (const [index, line] of lines.entries()) {
    if (isBlankLine(line)) continue;
    if (HEADING.test(line)) {
      if (hasKey && isBlankLine(lines[index - 1] ?? "")) break;
      continue;
    }
    if (!continuesYaml(line, previous)) break;
    hasKey ||= isKeyLine(line);
    previous = line;
    count = index + 1;
  }
  return count;
}

function continuesYaml(line: string, previous: string): boolean {
  if (CONTINUES.test(line)) return true;
  const mayList = previous !== "" && (!isKeyLine(previous) || previous.trimEnd().endsWith(":"));
  return LIST_ITEM.test(line) ? mayList : isKeyLine(line);
}

/**
 * Whether the lines, all of them between two fences, have swallowed the beginning of the body: after the
 * keys comes a Markdown heading, and nothing below it is a key again.
 */
export function hasSwallowedBody(lines: readonly string[]): boolean {
  const count = countYamlLines(lines);
  const next = lines.findIndex((line, index) => index >= count && !isBlankLine(line));
  if (count === 0 || next === -1 || !HEADING.test(lines[next] ?? "")) return false;
  const last = lines.slice(next).findLast((line) => /^[^\s#-]/.test(line));
  return last === undefined || !LOWER_CASE_KEY.test(last);
}
