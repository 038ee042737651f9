/**
 * Values that YAML cannot read, read as their author meant them. Pure text in, text out; whether a repaired
 * structure is YAML is for the caller to check.
 */
import { isBlankLine } from "./yaml-lines.ts";

const ESCAPE = /\\(?:[0abtnvfre "/\\N_LP\t\n]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|'|)/g;
const BLOCK_MARK = /^[|>][-+1-9]*(?:[ \t]+|$)/;
/** A quoted text, a quote that is not closed, or a bracket. */
const FLOW_TOKEN = /"(?:[^"\\]|\\.)*"|'[^']*'|["'[\]{}]/gs;
const STRUCTURE = /^(?:\{[ \t]*["'}]|\[[ \t]*[{["'\]])/;

/** Escapes that YAML does not know become the characters that were written; `\'` becomes `'`. */
export function fixEscapes(text: string): string {
  return text.replace(ESCAPE, (found) => (found === "\\" ? "\\\\" : found === "\\'" ? "'" : found));
}

/** Whether a value in brackets is clearly meant as a list or map, so that text would be the wrong reading. */
export function isStructure(value: string): boolean {
  return STRUCTURE.test(value);
}

/** The brackets that a flow list or map lacks at its end; `undefined` when they do not nest. */
export function missingBrackets(flow: string): string | undefined {
  const open: string[] = [];
  for (const [token] of flow.matchAll(FLOW_TOKEN)) {
    if (token === "{") open.push("}");
    else if (token === "[") open.push("]");
    else if (token === '"' || token === "'") return undefined;
    else if (token.length === 1 && open.pop() !== token) return undefined;
  }
  return open.reverse().join("");
}

/** The text of a value that stands after `key:` and on the lines below it. */
export function valueText(value: string, below: readonly string[]): string {
  const mark = BLOCK_MARK.exec(value)?.[0];
  if (mark !== undefined) {
    const lines = [value.slice(mark.length), ...below];
    return mark.startsWith("|") ? joinLiteral(lines) : fold(lines);
  }
  const quote = value.charAt(0);
  if (quote === '"' || quote === "'") return unquote(value, below, quote);
  return fold([value, ...below]);
}

/** As YAML folds: lines join by a blank, a blank line becomes a line end. */
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

/** Without the outer quotes, when they are meant as such. */
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
