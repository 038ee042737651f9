/**
 * Parses a Markdown document for a scan: its code, hidden comments, links, and its prose without them. Uses the
 * CommonMark grammar, without what would hide code from it but not from a model (HTML blocks, indentation), and without
 * what takes quadratic time.
 */
import type { Tree } from "@lezer/common";
import type {
  BlockContext,
  LeafBlock,
  LeafBlockParser,
  Line,
  MarkdownConfig,
  MarkdownParser,
} from "@lezer/markdown";
import { createLineFinder } from "./code/code-part.ts";
import { findPlainHeadings } from "./plain-markdown.ts";
import type { ScanLimits } from "./scanned-skill.ts";

export interface CodeBlock {
  /** The first word after the fence, lowercase; empty if there is none. */
  readonly tag: string;
  readonly text: string;
  /** 1-based, of the first line of code. */
  readonly firstLine: number;
  /** The heading and the lines right before it. */
  readonly lead: string;
}

export interface CodeSpan {
  readonly text: string;
  readonly line: number;
  /** What is next to it on its lines, and the heading above it. */
  readonly around: string;
}

interface MarkdownLink {
  readonly isImage: boolean;
  readonly text: string;
  readonly address: string;
  readonly title: string;
  readonly line: number;
}

export interface MarkdownParts {
  readonly blocks: readonly CodeBlock[];
  readonly spans: readonly CodeSpan[];
  readonly comments: readonly { readonly text: string; readonly line: number }[];
  readonly links: readonly MarkdownLink[];
  /** By line, with code and comments removed: lines keep their numbers. */
  readonly prose: readonly string[];
  /** The same in one text. */
  readonly whole: string;
  /** The heading above each line, lowercase. */
  readonly headings: readonly string[];
}

const LEAD_LINES = 3;
/** A block further down belongs to something else. */
const LEAD_DISTANCE = 8;
const MOST_SPAN = 2000;
const AROUND_SPAN = 300;

/** `undefined` for a document that would exceed what one scan may parse. */
type TakeApart = (text: string) => MarkdownParts | undefined;

/** Only a scan needs the grammar, so it is loaded when one starts. */
export async function loadMarkdown(limits: Pick<ScanLimits, "blocks">): Promise<TakeApart> {
  configured ??= withoutPlainText((await import("@lezer/markdown")).parser.configure(MARKDOWN_GRAMMAR));
  const grammar = configured;
  let blocksLeft = limits.blocks;
  return (text) => {
    const parse = grammar.startParse(boundMarkdown(text));
    for (; blocksLeft > 0; blocksLeft--) {
      const tree = parse.advance();
      if (tree) return takeApart(text, readTree(text, tree));
    }
    return undefined;
  };
}

let configured: MarkdownParser | undefined;

/** Within a line only code is searched, so that a text without its marker is not checked character by character. */
function withoutPlainText(grammar: MarkdownParser): MarkdownParser {
  const parseInline = grammar.parseInline.bind(grammar);
  grammar.parseInline = (text, offset) => (text.includes("`") ? parseInline(text, offset) : []);
  return grammar;
}

/** The same for a document without code and comments, where only headings matter; `undefined` if it may have others. */
export function takePlain(text: string): MarkdownParts | undefined {
  const headings = findPlainHeadings(text);
  return headings && takeApart(text, { fences: [], spans: [], comments: [], headings });
}

/** A text that is not parsed: all of it is prose. */
export function takeAsProse(text: string): MarkdownParts {
  return takeApart(text, { fences: [], spans: [], comments: [], headings: [] });
}

interface Piece {
  readonly from: number;
  readonly to: number;
}

/** What the grammar finds, in text order. */
interface Found {
  readonly fences: readonly (Piece & { readonly tag: string; readonly code: string })[];
  readonly spans: readonly Piece[];
  readonly comments: readonly Piece[];
  readonly headings: readonly Piece[];
}

function takeApart(text: string, found: Found): MarkdownParts {
  const lineOf = (at: number): number => placeOf(at).line;
  const placeOf = createLineFinder(text);
  const withoutCode = blank(text, [...found.fences, ...found.comments, ...found.spans]);
  const comments = [...found.comments, ...findComments(withoutCode)].sort((a, b) => a.from - b.from);
  const whole = blank(withoutCode, comments);
  const prose = whole.split("\n");
  const headings = spreadHeadings(
    prose.length,
    found.headings.map(({ from, to }) => [lineOf(from), text.slice(from, to)]),
  );
  return {
    blocks: found.fences.map(({ from, tag, code }) => {
      const line = lineOf(from);
      return { tag, text: dedent(code), firstLine: line + 1, lead: leadOf(prose, headings, line) };
    }),
    spans: found.spans.flatMap((span) => {
      const code = text.slice(span.from, span.to).replace(/^`+|`+$/g, "");
      const line = lineOf(span.from);
      const around = `${headings[line - 1] ?? ""}\n${textAround(text, span)}`;
      return code.length > MOST_SPAN ? [] : [{ text: code.replace(/\n[ \t>]*/g, " ").trim(), line, around }];
    }),
    comments: comments.map(({ from, to }) => ({ text: text.slice(from + 4, to - 3), line: lineOf(from) })),
    links: findLinks(blank(text, [...found.fences, ...comments])),
    prose,
    whole,
    headings,
  };
}

function readTree(text: string, tree: Tree): Found {
  const fences: Found["fences"][number][] = [];
  const spans: Piece[] = [];
  const comments: Piece[] = [];
  const headings: Piece[] = [];
  tree.iterate({
    enter({ name, from, to, node }) {
      if (name === "FencedCode") {
        const info = node.getChild("CodeInfo");
        const [, tag = ""] = /^\{?\.?([^\s`{}]*)/.exec(info ? text.slice(info.from, info.to) : "") ?? [];
        const code = node.getChildren("CodeText").map((piece) => text.slice(piece.from, piece.to));
        fences.push({ from: startOfFence(text, from), to, tag: tag.toLowerCase(), code: code.join("") });
      } else if (name === "InlineCode") spans.push({ from, to });
      else if (name === "CommentBlock" && text.endsWith("-->", to)) comments.push({ from, to });
      else if (name.startsWith("ATXHeading")) headings.push({ from, to });
    },
  });
  return { fences, spans, comments, headings };
}

/** With the quotation markers before it. */
function startOfFence(text: string, from: number): number {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  return /^[ \t>]*$/.test(text.slice(start, from)) ? start : from;
}

/** The same text with some parts blanked: lines and columns stay. */
function blank(text: string, pieces: readonly Piece[]): string {
  if (pieces.length === 0) return text;
  let result = "";
  let end = 0;
  for (const { from, to } of [...pieces].sort((a, b) => a.from - b.from)) {
    if (from < end) continue;
    result += text.slice(end, from) + text.slice(from, to).replace(/[^\n]/g, " ");
    end = to;
  }
  return result + text.slice(end);
}

/** Comments within a line, and those of a page that is not Markdown. */
function findComments(text: string): readonly Piece[] {
  const comments: Piece[] = [];
  for (let from = text.indexOf("<!--"); from !== -1; ) {
    const close = text.indexOf("-->", from + 4);
    if (close === -1) break;
    comments.push({ from, to: close + 3 });
    from = text.indexOf("<!--", close + 3);
  }
  return comments;
}

function spreadHeadings(
  lines: number,
  marked: readonly (readonly [line: number, text: string])[],
): readonly string[] {
  const headings: string[] = [];
  let heading = "";
  let next = 0;
  for (let line = 1; line <= lines; line++) {
    for (; marked[next]?.[0] === line; next++)
      heading = marked[next]?.[1].replace(/^#+\s*/, "").toLowerCase() ?? "";
    headings.push(heading);
  }
  return headings;
}

/** A list block's indentation is not part of its code. */
function dedent(code: string): string {
  const lines = code.split("\n");
  const indents = lines
    .filter((line) => line.trim() !== "")
    .map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0);
  const least = Math.min(200, ...indents);
  return lines.map((line) => line.slice(Math.min(least, line.length))).join("\n");
}

/** For a block whose fence is on `line`. */
function leadOf(prose: readonly string[], headings: readonly string[], line: number): string {
  const before: string[] = [];
  const last = Math.max(0, line - 1 - LEAD_DISTANCE);
  for (let at = line - 2; at >= last && before.length < LEAD_LINES; at--) {
    const text = (prose[at] ?? "").trim();
    if (text.startsWith("#")) break;
    if (text !== "") before.unshift(text);
    else if (before.length > 0) break;
  }
  return [headings[line - 1] ?? "", ...before].join("\n");
}

function textAround(text: string, { from, to }: Piece): string {
  const before = text.slice(Math.max(0, from - AROUND_SPAN), from);
  const [after = ""] = text.slice(to, to + AROUND_SPAN).split("\n", 1);
  return `${before.slice(before.lastIndexOf("\n") + 1)} ${after}`;
}

/** `[text](address "title")`, `[name]: address "title"` and `[text][name]`, up to the address. */
const LINK = /(!?)\[([^[\]\n]{0,1000})\](?:(\()\s*|(:)[ \t]*|\[[^[\]\n]{0,1000}\])/g;
const ADDRESS = /<?([^\s)>]+)>?(?:\s+["'(]([^"'\n]{0,1000})["')])?\s*(\)?)/y;

function findLinks(text: string): readonly MarkdownLink[] {
  if (!text.includes("[")) return [];
  const links: MarkdownLink[] = [];
  const placeOf = createLineFinder(text);
  LINK.lastIndex = 0;
  for (let match = LINK.exec(text); match; match = LINK.exec(text)) {
    const [, bang, said = "", opens, defines] = match;
    ADDRESS.lastIndex = LINK.lastIndex;
    const [whole = "", address = "", title = "", closes] = opens || defines ? (ADDRESS.exec(text) ?? []) : [];
    LINK.lastIndex += whole.length; // No other link starts within an address.
    if (opens && !closes) continue;
    links.push({ isImage: bang === "!", text: said, address, title, line: placeOf(match.index).line });
  }
  return links;
}

/** Nested lists and quotations; anything deeper is one text. */
const MOST_DEPTH = 30;
/** A longer paragraph is read as several. */
const MOST_PARAGRAPH = 16_000;
/** Marker characters in a row; more do not count. */
const MOST_MARKS = 64;

const OPEN = "<!--";
const CLOSE = "-->";

const MARKDOWN_GRAMMAR: MarkdownConfig = {
  remove: [
    "LinkReference",
    "IndentedCode",
    "HTMLBlock",
    "SetextHeading",
    "Entity",
    "HTMLTag",
    "Emphasis",
    "HardBreak",
    "Link",
    "Image",
    "LinkEnd",
  ],
  parseBlock: [
    { name: "TooDeep", before: "FencedCode", parse: stopDeep },
    { name: "CommentBlock", before: "FencedCode", parse: takeComment },
    { name: "LongParagraph", leaf: () => SPLIT_LONG },
  ],
};

/**
 * The text as the grammar may see it, with all positions kept: no line is too long, and an unclosed comment does not
 * count, since it would hide from the scan what a model still reads.
 */
function boundMarkdown(text: string): string {
  const last = text.lastIndexOf(CLOSE);
  const closed = last === -1 ? 0 : last + CLOSE.length;
  const ended = text.slice(0, closed) + text.slice(closed).replaceAll(OPEN, "<!~~");
  const lines = ended.split("\n");
  return lines.some(({ length }) => length > MOST_PARAGRAPH) ? lines.map(cutLine).join("\n") : ended;
}

/** At a character that is not part of a marker, which a line break would undo. */
function cutLine(line: string): string {
  let result = "";
  let start = 0;
  while (line.length - start > MOST_PARAGRAPH) {
    let cut = start + MOST_PARAGRAPH;
    for (let back = 0; back < MOST_MARKS && /[<!>`~-]/.test(line[cut] ?? ""); back++) cut--;
    result += `${line.slice(start, cut)}\n`;
    start = cut + 1;
  }
  return result + line.slice(start);
}

function stopDeep(context: BlockContext, line: Line): boolean {
  if (context.depth <= MOST_DEPTH) return false;
  const from = context.lineStart + line.pos;
  context.nextLine();
  context.addElement(context.elt("Paragraph", from, context.prevLineEnd()));
  return true;
}

/** To its end, across everything within. The rest of that line is read like any other. */
function takeComment(context: BlockContext, line: Line): false | null {
  if (!line.text.startsWith(OPEN, line.pos)) return false;
  const from = context.lineStart + line.pos;
  let close = line.text.indexOf(CLOSE, line.pos + OPEN.length);
  while (close === -1 && context.nextLine()) close = line.text.indexOf(CLOSE);
  const end = close === -1 ? line.text.length : close + CLOSE.length;
  context.addElement(context.elt("CommentBlock", from, context.lineStart + end));
  line.moveBase(end);
  return null;
}

const SPLIT_LONG: LeafBlockParser = {
  nextLine(context: BlockContext, _line: Line, leaf: LeafBlock) {
    const { start, content } = leaf;
    if (content.length < MOST_PARAGRAPH) return false;
    const inline = context.parser.parseInline(content, start);
    context.addLeafElement(leaf, context.elt("Paragraph", start, start + content.length, inline));
    return true;
  },
  finish: () => false,
};
