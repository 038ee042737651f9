/**
 * Inline Markdown as styled spans: emphasis, code, links. Uses Lezer's grammar, and tells text that may still change
 * from text that is final.
 */
import { GFM, parser } from "@lezer/markdown";
import type { Style } from "./style.ts";

export interface StyledText {
  readonly text: string;
  readonly look: (text: string) => string;
}

/** A grammar node; its children exist but aren't in the types. */
interface InlineNode {
  readonly type: number;
  readonly from: number;
  readonly to: number;
  readonly children?: readonly InlineNode[];
}

/** How much text to wait for before a sign stands for itself. */
const MOST_HELD = 600;
/** The grammar takes more than linear time on some texts, so it never gets a long one. Must exceed `MOST_HELD`. */
const MOST_PARSED = 1_000;
/** Counts signs that stand for themselves; a text with more of them is taken as plain. */
const MOST_FAILED = 50;

const markdown = parser.configure(GFM);
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
};

const plain = (text: string): string => text;

function parse(text: string): readonly InlineNode[] {
  return markdown.parseInline(text, 0) as readonly InlineNode[];
}

function nameOf({ type }: InlineNode): string {
  return markdown.nodeSet.types[type]?.name ?? "";
}

/** For a whole line. */
export function readSpans(text: string, style: Style): readonly StyledText[] {
  if (text.length <= MOST_PARSED) return spansBetween(text, 0, text.length, parse(text), plain, style);
  const { spans, rest } = takeSpans(text, style);
  return [...spans, ...(rest === "" ? [] : readSpans(rest.slice(0, MOST_PARSED), style))];
}

function spansBetween(
  text: string,
  from: number,
  to: number,
  nodes: readonly InlineNode[],
  look: StyledText["look"],
  style: Style,
): readonly StyledText[] {
  const spans: StyledText[] = [];
  let at = from;
  for (const node of nodes) {
    if (node.from > at) spans.push({ text: text.slice(at, node.from), look });
    spans.push(...spansOf(text, node, look, style));
    at = node.to;
  }
  if (at < to) spans.push({ text: text.slice(at, to), look });
  return spans;
}

function spansOf(
  text: string,
  node: InlineNode,
  outer: StyledText["look"],
  style: Style,
): readonly StyledText[] {
  const children = node.children ?? [];
  const source = text.slice(node.from, node.to);
  const within = (look: StyledText["look"]): readonly StyledText[] => {
    const marks = children.filter((child) => nameOf(child).endsWith("Mark"));
    const start = marks[0]?.to ?? node.from;
    const end = marks.at(-1)?.from ?? node.to;
    const inner = children.filter((child) => child.from >= start && child.to <= end);
    return spansBetween(text, start, end, inner, (part) => outer(look(part)), style);
  };
  switch (nameOf(node)) {
    case "StrongEmphasis":
      return within(style.bold);
    case "Emphasis":
      return within(style.italic);
    case "Strikethrough":
      return within(style.strike);
    case "InlineCode":
      return within(style.cyan);
    case "Escape":
      return [{ text: source.slice(1), look: outer }];
    case "Entity":
      return [{ text: ENTITIES[source] ?? source, look: outer }];
    case "URL":
      return [{ text: source, look: (part) => outer(style.underline(part)) }];
    case "Link":
    case "Image":
      return linkSpans(text, node, outer, style);
    default:
      return [{ text: source, look: outer }];
  }
}

/** Shows the address next to the words, since words alone could claim another address. */
function linkSpans(
  text: string,
  node: InlineNode,
  outer: StyledText["look"],
  style: Style,
): readonly StyledText[] {
  const children = node.children ?? [];
  const address = children.find((child) => nameOf(child) === "URL");
  const [open, close] = children.filter((child) => nameOf(child) === "LinkMark");
  if (address === undefined || open === undefined || close === undefined) {
    return [{ text: text.slice(node.from, node.to), look: outer }];
  }
  const inner = children.filter((child) => child.from >= open.to && child.to <= close.from);
  const look: StyledText["look"] = (part) => outer(style.underline(part));
  const words = spansBetween(text, open.to, close.from, inner, look, style);
  const target = text.slice(address.from, address.to).replace(/^<|>$/g, "");
  const isSame = text.slice(open.to, close.from) === target;
  return isSame ? words : [...words, { text: ` (${target})`, look: style.dim }];
}

interface TakenSpans {
  readonly spans: readonly StyledText[];
  /** The part that may still become something else. */
  readonly rest: string;
}

/** For the start of a line: the part that nothing later can change. */
export function takeSpans(text: string, style: Style): TakenSpans {
  const spans: StyledText[] = [];
  let at = 0;
  for (let failed = 0; at < text.length && failed < MOST_FAILED; ) {
    const sign = findSign(text, at);
    if (sign > at) spans.push({ text: text.slice(at, sign), look: plain });
    if (sign === text.length) return { spans, rest: "" };
    const rest = text.slice(sign);
    const certain = takeCertain(rest.slice(0, MOST_PARSED), style);
    if (certain.end > 0) {
      spans.push(...certain.spans);
      at = sign + certain.end;
    } else if (isLiteral(rest)) {
      spans.push({ text: rest.slice(0, 1), look: plain });
      at = sign + 1;
      failed += 1;
    } else return { spans, rest };
  }
  if (at < text.length) spans.push({ text: text.slice(at), look: plain });
  return { spans, rest: "" };
}

/** The first span and the rest, as far as one parse can tell. */
function takeCertain(
  text: string,
  style: Style,
): { readonly spans: readonly StyledText[]; readonly end: number } {
  const spans: StyledText[] = [];
  let end = 0;
  for (const node of parse(text)) {
    const between = text.slice(end, node.from);
    if (findSign(between, 0) < between.length || !isCertain(text, node)) break;
    if (between !== "") spans.push({ text: between, look: plain });
    spans.push(...spansOf(text, node, plain, style));
    end = node.to;
  }
  return { spans, end };
}

/** Nothing that follows can make it longer. */
function isCertain(rest: string, node: InlineNode): boolean {
  if (nameOf(node) === "Escape") return true;
  if (node.to >= rest.length) return false;
  const isLink = nameOf(node) === "Link" || nameOf(node) === "Image";
  const hasAddress = node.children?.some((child) => nameOf(child) === "URL") === true;
  return !isLink || hasAddress || rest[node.to] !== "(" || rest.length > MOST_HELD;
}

/** The next character that may start something, or the end. */
function findSign(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const character = text[at] ?? "";
    const isInWord = character === "_" && /[\p{L}\p{N}_]/u.test(text[at - 1] ?? " ");
    if ("*_`[!<~\\&".includes(character) && !isInWord) return at;
  }
  return text.length;
}

function isLiteral(rest: string): boolean {
  if (rest.length > MOST_HELD) return true;
  const [sign, next] = rest;
  if (next === undefined) return false;
  if (sign === "!") return next !== "[";
  if (sign === "<") return !/[a-z/!]/i.test(next) || rest.length > 100;
  if (sign === "\\") return true;
  if (sign === "&") return !/^&[#\w]{0,30}$/.test(rest);
  return (sign === "*" || sign === "_" || sign === "~") && /\s/.test(next);
}
