/** Finds commands and local links in a skill's body. Runs nothing and does not read the disk. */

/** A part of a body: plain text, or a command with its original text. */
export type BodyPiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "command"; readonly text: string; readonly command: string };

const COMMAND = /(?<=^|\s)!`(?<inline>[^`\n]+)`|^```!(?:[ \t]*\n)(?<block>(?:(?!^```).*\n)*)^```[ \t]*$/gm;
/** Every command has one of them, and most bodies have none. */
const MARKS = ["!`", "```!"];

/**
 * Commands are written as !`git status`, or as a code block that starts with ```!. `invoke` decides whether and how
 * they run.
 */
export function findCommands(body: string): readonly BodyPiece[] {
  if (!MARKS.some((mark) => body.includes(mark))) return [{ kind: "text", text: body }];
  const pieces: BodyPiece[] = [];
  let end = 0;
  for (const match of body.matchAll(COMMAND)) {
    const command = (match.groups?.inline ?? match.groups?.block ?? "").trim();
    if (command === "") continue;
    pieces.push({ kind: "text", text: body.slice(end, match.index) });
    pieces.push({ kind: "command", text: match[0], command });
    end = match.index + match[0].length;
  }
  return [...pieces, { kind: "text", text: body.slice(end) }];
}

interface BodyLink {
  /** The path, without title, query, fragment and percent encoding. */
  readonly path: string;
  /** 1-based, within the body. */
  readonly line: number;
}

const MAX_DESTINATION = 1024;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/**
 * The first `most` local links of a Markdown body, with their lines. One pass: each character is read only a few times,
 * whatever the text. Skips code spans and fences.
 */
export function findLinks(body: string, most: number = Number.POSITIVE_INFINITY): readonly BodyLink[] {
  const links: BodyLink[] = [];
  let fence = "";
  for (const [index, line] of linesWithLinks(body).entries()) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== "") {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = "";
    } else if (mark !== undefined) {
      fence = mark;
    } else if (line.includes("](") || /^ {0,3}\[/.test(line)) {
      for (const destination of destinationsOf(blankCodeSpans(line))) {
        const path = localPath(destination);
        if (path !== undefined && links.push({ path, line: index + 1 }) >= most) return links;
      }
    }
  }
  return links;
}

/** All lines, or none where no link can be: many bodies have none. */
function linesWithLinks(body: string): readonly string[] {
  return /\[|\]\(/.test(body) ? body.split("\n") : [];
}

/** `[label]: destination`, but not a footnote, and only a title after it. */
const DEFINITION = /^ {0,3}\[[^\]^][^\]]{0,200}\]:\s*(<[^<>]{1,1024}>|\S{1,1024})\s*(?:["'(]|$)/;
/** What distinguishes a file from the first word of a sentence. */
const FILE = /^<|[./]./;

/** `[text](destination "title")`, `![alt](destination)` and `[label]: destination`. */
function* destinationsOf(line: string): Iterable<string> {
  const definition = DEFINITION.exec(line)?.[1];
  if (definition !== undefined && FILE.test(definition)) yield definition;
  let at = line.indexOf("](");
  while (at >= 0) {
    // Each ends before the next one starts: otherwise a line of starts would be read again and again.
    const next = line.indexOf("](", at + 2);
    const destination = readDestination(line.slice(at + 2, next < 0 ? line.length : next));
    if (destination !== undefined) yield destination;
    at = next;
  }
}

/** Up to the closing parenthesis or a space; inner parentheses must be balanced. */
function readDestination(rest: string): string | undefined {
  const text = rest.slice(0, MAX_DESTINATION);
  if (text.startsWith("<")) {
    const close = text.indexOf(">");
    return close > 0 ? text.slice(0, close + 1) : undefined;
  }
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "(") depth++;
    else if (character === " " || (character === ")" && depth-- === 0)) return text.slice(0, at);
  }
  return undefined;
}

/** `undefined` for anything but a path: addresses, fragments, placeholders. */
function localPath(destination: string): string | undefined {
  const bare = destination.replace(/^<(.*)>$/, "$1").split(/[#?]/, 1)[0] ?? "";
  const isPlaceholder = /[{}$<>*|]|\.\.\./.test(bare);
  if (bare === "" || isPlaceholder || /^[a-z][a-z0-9+.-]*:/i.test(bare) || bare.startsWith("//"))
    return undefined;
  try {
    return decodeURIComponent(bare);
  } catch {
    // A stray percent sign: the path is used as written.
    return bare;
  }
}

/** Blanks code spans, so that an example is not taken for a link. */
function blankCodeSpans(line: string): string {
  let result = "";
  let at = 0;
  while (at < line.length) {
    const open = line.indexOf("`", at);
    if (open < 0) break;
    const width = countBackticks(line, open);
    const close = findClosing(line, open + width, width);
    result += line.slice(at, open);
    if (close === undefined) return result + line.slice(open);
    result += " ".repeat(close - open);
    at = close;
  }
  return result + line.slice(at);
}

function countBackticks(line: string, start: number): number {
  let end = start;
  while (line[end] === "`") end++;
  return end - start;
}

/** Where the next run of exactly `width` backticks ends. */
function findClosing(line: string, start: number, width: number): number | undefined {
  for (let at = line.indexOf("`", start); at >= 0; at = line.indexOf("`", at)) {
    const found = countBackticks(line, at);
    at += found;
    if (found === width) return at;
  }
  return undefined;
}
