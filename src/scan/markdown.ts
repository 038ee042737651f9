/** A Markdown document taken apart for a scan: its code, its hidden comments, its links, and its prose without any of them. */

export interface CodeBlock {
  /** The first word behind the fence, lower case; empty when there is none. */
  readonly tag: string;
  readonly text: string;
  /** 1-based, of the first line of code. */
  readonly firstLine: number;
  /** Heading and lines that stand right before it. */
  readonly lead: string;
}

export interface CodeSpan {
  readonly text: string;
  readonly line: number;
  /** What stands beside it on its line, and the heading above it. */
  readonly around: string;
}

export interface Comment {
  readonly text: string;
  readonly line: number;
}

export interface MarkdownLink {
  readonly isImage: boolean;
  readonly text: string;
  readonly address: string;
  readonly title: string;
  readonly line: number;
}

export interface MarkdownParts {
  readonly blocks: readonly CodeBlock[];
  readonly spans: readonly CodeSpan[];
  readonly comments: readonly Comment[];
  readonly links: readonly MarkdownLink[];
  /** By line, with code and comments taken out: lines keep their numbers. */
  readonly prose: readonly string[];
  /** The heading above each line, lower case. */
  readonly headings: readonly string[];
}

const FENCE = /^[ \t>]*(`{3,}|~{3,})[ \t]*\{?\.?([^\s`{}]*)/;
const LEAD_LINES = 3;
/** A block further below belongs to something else. */
const LEAD_DISTANCE = 8;
const MOST_SPAN = 2000;
const AROUND_SPAN = 300;

export function takeMarkdownApart(text: string): MarkdownParts {
  const comments: Comment[] = [];
  const visible = blankComments(text, comments);
  const lines = visible.split("\n");
  const blocks: CodeBlock[] = [];
  const spans: CodeSpan[] = [];
  const links: MarkdownLink[] = [];
  const prose: string[] = [];
  const headings: string[] = [];
  let heading = "";
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, mark = "", tag = ""] = FENCE.exec(line) ?? [];
    if (mark !== "") {
      const end = findFenceEnd(lines, at + 1, mark);
      const code = lines.slice(at + 1, end);
      blocks.push({
        tag: tag.toLowerCase(),
        text: dedent(code),
        firstLine: at + 2,
        lead: leadOf(prose, heading),
      });
      for (; at < Math.min(end + 1, lines.length); at++) addLine(prose, headings, "", heading);
      at--;
      continue;
    }
    const [, title] = /^#{1,6}[ \t]+(.*)$/.exec(line) ?? [];
    if (title !== undefined) heading = title.toLowerCase();
    addLine(prose, headings, takeSpans(line, at + 1, heading, spans), heading);
    takeLinks(line, at + 1, links);
  }
  return { blocks, spans, comments, links, prose, headings };
}

function addLine(prose: string[], headings: string[], line: string, heading: string): void {
  prose.push(line);
  headings.push(heading);
}

function findFenceEnd(lines: readonly string[], from: number, mark: string): number {
  const close = new RegExp(`^[ \\t>]*${mark[0] === "~" ? "~" : "`"}{${mark.length},}[ \\t]*$`);
  for (let at = from; at < lines.length; at++) if (close.test(lines[at] ?? "")) return at;
  return lines.length;
}

/** The indentation of a block in a list is none of its code. */
function dedent(lines: readonly string[]): string {
  const indents = lines
    .filter((line) => line.trim() !== "")
    .map((line) => /^[ \t>]*/.exec(line)?.[0].length ?? 0);
  const least = Math.min(200, ...indents);
  return lines.map((line) => line.slice(Math.min(least, line.length))).join("\n");
}

function leadOf(prose: readonly string[], heading: string): string {
  const before: string[] = [];
  const last = Math.max(0, prose.length - LEAD_DISTANCE);
  for (let at = prose.length - 1; at >= last && before.length < LEAD_LINES; at--) {
    const line = (prose[at] ?? "").trim();
    if (line.startsWith("#")) break;
    if (line !== "") before.unshift(line);
    else if (before.length > 0) break;
  }
  return [heading, ...before].join("\n");
}

/** Comments may hold several lines; their place is kept blank. In code they are code. */
function blankComments(text: string, comments: Comment[]): string {
  let result = "";
  let end = 0;
  let line = 1;
  let fences = 0;
  for (let open = text.indexOf("<!--"); open !== -1; open = text.indexOf("<!--", end)) {
    const close = text.indexOf("-->", open + 4);
    if (close === -1) break;
    const between = text.slice(end, open);
    line += countLines(text, end, open);
    fences += between.match(/^[ \t>]{0,20}(?:`{3,}|~{3,})/gm)?.length ?? 0;
    if (fences % 2 === 1 || isInSpan(text, open)) {
      result += `${between}<!--`;
      end = open + 4;
      continue;
    }
    const comment = text.slice(open + 4, close);
    comments.push({ text: comment, line });
    result += between + comment.replace(/[^\n]/g, " ");
    line += countLines(text, open, close);
    end = close + 3;
  }
  return result + text.slice(end);
}

/** An odd number of backticks stands before it on its line. */
function isInSpan(text: string, at: number): boolean {
  const near = text.slice(Math.max(0, at - MOST_SPAN), at);
  const before = near.slice(near.lastIndexOf("\n") + 1);
  return (before.match(/`/g)?.length ?? 0) % 2 === 1;
}

function countLines(text: string, from: number, to: number): number {
  return text.slice(from, to).split("\n").length - 1;
}

/** The line without its code spans, which are kept apart. */
function takeSpans(line: string, number: number, heading: string, spans: CodeSpan[]): string {
  if (!line.includes("`")) return line;
  return line.replace(/(`+)(?!`)([^`]+?)\1(?!`)/g, (whole, _, code: string, at: number) => {
    const near = line.slice(Math.max(0, at - AROUND_SPAN), at + whole.length + AROUND_SPAN);
    if (code.length <= MOST_SPAN)
      spans.push({ text: code.trim(), line: number, around: `${heading}\n${near}` });
    return " ".repeat(whole.length);
  });
}

const LINK = /(!?)\[([^\]\n]{0,1000})\]\(\s*<?([^\s)>]{1,4000})>?(?:\s+["']([^"'\n]{0,1000})["'])?\s*\)/g;

function takeLinks(line: string, number: number, links: MarkdownLink[]): void {
  if (!line.includes("](")) return;
  for (const [, bang, text = "", address = "", title = ""] of line.slice(0, 20_000).matchAll(LINK)) {
    links.push({ isImage: bang === "!", text, address, title, line: number });
  }
}
