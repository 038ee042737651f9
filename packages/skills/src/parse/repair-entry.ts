/**
 * Rewrites one top-level entry that YAML cannot read on its own: quotes the value, or fixes its brackets, escapes or
 * nested lines. The number of lines stays the same, and so do positions.
 */
import { isBlankLine, type YamlEntry } from "./yaml-lines.ts";

export interface RepairedEntry {
  /** As many lines as the entry has. */
  readonly lines: readonly string[];
  /** What was wrong, to follow "The value of `key`"; absent if lines were only left out. */
  readonly what?: string;
  /** How to write it, if quotes are not the answer. */
  readonly hint?: string;
  /** Where, relative to the entry's first line. */
  readonly lineOffset: number;
  readonly column: number;
  /** The first omitted line, relative to the entry's first line. */
  readonly leftOut?: number | undefined;
}

type IsYaml = (text: string) => boolean;

const BLOCK = /^[|>]/;
const NESTED = /^([ \t]*(?:-[ \t]+)*(?:(?:[\p{L}\p{N}_$./-]+|"[^"]*"|'[^']*')[ \t]*:[ \t]+)?)(\S.*)$/u;

/** `undefined` if the value cannot be read at all. */
export function repairEntry(entry: YamlEntry, isYaml: IsYaml): RepairedEntry | undefined {
  // A comment or heading at the left edge ends the value, as in YAML; text below it belongs to nothing.
  const comment = entry.below.findIndex((line) => line.startsWith("#"));
  if (comment === -1) return repairLines(entry, isYaml);
  const hasMore = entry.below.slice(comment).some((line) => !/^\s*(?:#|$)/.test(line));
  const short = { ...entry, below: entry.below.slice(0, comment) };
  const lines = [`${entry.head} ${entry.value}`, ...short.below];
  const isRead = isYaml(lines.join("\n"));
  const repaired = isRead ? { lines, lineOffset: 0, column: entry.column } : repairLines(short, isYaml);
  const rest = entry.below.slice(comment).map(() => "");
  return (
    repaired && {
      ...repaired,
      lines: [...repaired.lines, ...rest],
      leftOut: hasMore ? comment + 1 : undefined,
    }
  );
}

function repairLines(entry: YamlEntry, isYaml: IsYaml): RepairedEntry | undefined {
  const value = entry.value.startsWith("#") ? "" : entry.value;
  const lines = [`${entry.head} ${value}`, ...entry.below];
  if (value === "") return repairNested(lines, isYaml) ?? readUnlessStructured(entry);
  if (value.startsWith('"')) return repairEscapes(entry, lines, isYaml) ?? readAsText(entry);
  if (value.startsWith("[") || value.startsWith("{")) {
    return closeBrackets(entry, lines, isYaml) ?? (STRUCTURE.test(value) ? undefined : readAsText(entry));
  }
  return readAsText(entry);
}

function readAsText(entry: YamlEntry): RepairedEntry {
  const text = JSON.stringify(valueText(entry.value, entry.below));
  const lines = [`${entry.head} ${text}`, ...entry.below.map(() => "")];
  return { lines, what: describeFault(entry), lineOffset: 0, column: entry.column };
}

function readUnlessStructured(entry: YamlEntry): RepairedEntry | undefined {
  const isStructured = entry.below.some((line) => /^\s*-\s/.test(line) || /^\s+\S+:(?:\s|$)/.test(line));
  return isStructured || entry.below.every(isBlankLine) ? undefined : readAsText(entry);
}

function describeFault({ value, below }: YamlEntry): string {
  if (BLOCK.test(value)) {
    return /^[|>][-+1-9]*$/.test(value)
      ? "is not indented"
      : `has text on the same line as its block marker \`${value.charAt(0)}\``;
  }
  if (below.some((line) => /^\S/.test(line))) return "continues on lines that are not indented";
  if (/^["']/.test(value)) return "has mismatched quotes";
  if (/^[@`%*&!,[\]{}]/.test(value)) return `starts with \`${value.charAt(0)}\`, which has a meaning in YAML`;
  if (/:(?:\s|$)/.test(value)) return "contains `: `, which YAML reads as the end of a key";
  return "is not valid YAML";
}

function repairEscapes(
  entry: YamlEntry,
  lines: readonly string[],
  isYaml: IsYaml,
): RepairedEntry | undefined {
  const fixed = lines.map(fixEscapes);
  if (!isYaml(fixed.join("\n"))) return undefined;
  const what = "has a backslash without a valid YAML escape";
  const hint = "Write `\\\\` for a backslash, or put the text in single quotes.";
  return { lines: fixed, what, hint, lineOffset: 0, column: entry.column };
}

function closeBrackets(
  entry: YamlEntry,
  lines: readonly string[],
  isYaml: IsYaml,
): RepairedEntry | undefined {
  const missing = missingBrackets([entry.value, ...entry.below].join("\n"));
  if (missing === undefined || missing === "") return undefined;
  const last = lines.findLastIndex((line) => !isBlankLine(line));
  const fixed = lines.map((line, index) => (index === last ? line + missing : line));
  if (!isYaml(fixed.join("\n"))) return undefined;
  const what = `is missing \`${missing}\` at the end`;
  const hint = "Close every open bracket.";
  return { lines: fixed, what, hint, lineOffset: last, column: (lines[last] ?? "").length };
}

/** Fixes what follows a key without a value, line by line. */
function repairNested(lines: readonly string[], isYaml: IsYaml): RepairedEntry | undefined {
  const fixed = lines.map(nestedLineRepairer(isYaml));
  const changed = fixed.findIndex((line, index) => line !== lines[index]);
  if (changed <= 0 || !isYaml(fixed.join("\n"))) return undefined;
  const column = (NESTED.exec(lines[changed] ?? "")?.[1]?.length ?? 0) + 1;
  const hint = "Put text with special characters in quotes.";
  return { lines: fixed, what: "is followed by a line that is not YAML", hint, lineOffset: changed, column };
}

function nestedLineRepairer(isYaml: IsYaml): (line: string) => string {
  // Lines with more indentation belong to a block scalar and are left alone.
  let blockIndent = Number.POSITIVE_INFINITY;
  return (line) => {
    const indent = line.search(/\S/);
    if (indent === -1 || indent > blockIndent) return line;
    blockIndent = Number.POSITIVE_INFINITY;
    const [, prefix = "", value = ""] = NESTED.exec(line) ?? [];
    if (prefix.trim() === "" || value.startsWith("#")) return line;
    if (!BLOCK.test(value)) return isYaml(`key: ${value}`) ? line : prefix + repairInlineValue(value, isYaml);
    blockIndent = indent;
    return line;
  };
}

function repairInlineValue(value: string, isYaml: IsYaml): string {
  const candidates = [fixEscapes(value), value + (missingBrackets(value) ?? "")];
  return candidates.find((candidate) => isYaml(`key: ${candidate}`)) ?? JSON.stringify(valueText(value, []));
}

// Values that YAML cannot read, read as their author meant them: text in, text out.

const ESCAPE = /\\(?:[0abtnvfre "/\\N_LP\t\n]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|'|)/g;
const BLOCK_MARK = /^[|>][-+1-9]*(?:[ \t]+|$)/;
/** A quoted string, an unclosed quote, or a bracket. */
const FLOW_TOKEN = /"(?:[^"\\]|\\.)*"|'[^']*'|["'[\]{}]/gs;
/** What is clearly meant as a list or map, so that text would be the wrong reading. */
const STRUCTURE = /^(?:\{[ \t]*["'}]|\[[ \t]*[{["'\]])/;

/** Escapes unknown to YAML become the written characters; `\'` becomes `'`. */
function fixEscapes(text: string): string {
  return text.replace(ESCAPE, (found) => (found === "\\" ? "\\\\" : found === "\\'" ? "'" : found));
}

/** The missing closing brackets of a flow list or map; `undefined` if they do not nest. */
function missingBrackets(flow: string): string | undefined {
  const open: string[] = [];
  for (const [token] of flow.matchAll(FLOW_TOKEN)) {
    if (token === "{") open.push("}");
    else if (token === "[") open.push("]");
    else if (token === '"' || token === "'") return undefined;
    else if (token.length === 1 && open.pop() !== token) return undefined;
  }
  return open.reverse().join("");
}

/** The text of a value after `key:` and on the lines below it. */
function valueText(value: string, below: readonly string[]): string {
  const mark = BLOCK_MARK.exec(value)?.[0];
  if (mark !== undefined) {
    const lines = [value.slice(mark.length), ...below];
    return mark.startsWith("|") ? joinLiteral(lines) : fold(lines);
  }
  const quote = value.charAt(0);
  if (quote === '"' || quote === "'") return unquote(value, below, quote);
  return fold([value, ...below]);
}

/** Folded as in YAML: lines are joined by a space, a blank line becomes a line break. */
function fold(lines: readonly string[]): string {
  let text = "";
  let separator = "";
  for (const line of lines) {
    if (isBlankLine(line)) {
      separator = separator.startsWith("\n") ? `${separator}\n` : "\n";
    } else {
      text += (text === "" ? "" : separator) + line.trim();
      separator = " ";
    }
  }
  return text;
}

function joinLiteral(lines: readonly string[]): string {
  const widths = lines
    .slice(1)
    .filter((line) => !isBlankLine(line))
    .map((line) => line.search(/\S/));
  const indent = Math.min(...widths, Number.MAX_SAFE_INTEGER);
  const [first = "", ...rest] = lines;
  return [first, ...rest.map((line) => line.slice(indent).trimEnd())].join("\n").trim();
}

/** Without the outer quotes, if they are meant as such. */
function unquote(value: string, below: readonly string[], quote: string): string {
  const whole = fold([value, ...below]);
  if (whole.length > 1 && whole.endsWith(quote)) return dropEscapes(whole.slice(1, -1), quote);
  if (value.length > 1 && value.endsWith(quote))
    return fold([dropEscapes(value.slice(1, -1), quote), ...below]);
  return whole.includes(quote, 1) ? whole : whole.slice(1);
}

function dropEscapes(text: string, quote: string): string {
  return quote === "'" ? text.replaceAll("''", "'") : text.replace(/\\(["\\])/g, "$1");
}
