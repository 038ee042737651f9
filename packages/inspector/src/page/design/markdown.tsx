/**
 * Untrusted Markdown as elements: parsed by `@lezer/markdown` and drawn here; HTML in it is shown as text. Links lead
 * out of the page only by `http`, `https` and `mailto`. Images are not loaded: their text and address are shown. The
 * parser is loaded with the first text.
 */
import type { SyntaxNode, Tree } from "@lezer/common";
import { type ComponentChildren, createElement } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Code, markRedactions, showUnseen } from "./text.tsx";

/** Hostile text can make parsing take more than linear time, so longer text is shown as it is. */
const MOST_TEXT = 30_000;
const MOST_DEPTH = 60;

/** The page uses the first heading levels itself. */
const PAGE_LEVELS = 2;
/** The level of the last heading: none is more than one below the previous one, no matter what the text says. */
let lastLevel = PAGE_LEVELS;

export function Markdown({ text }: { readonly text: string }) {
  const [parse, setParse] = useState<((text: string) => Tree) | undefined>(undefined);
  useEffect(() => {
    let isOpen = true;
    void import("@lezer/markdown").then(({ parser, GFM }) => {
      const configured = parser.configure(GFM);
      if (isOpen) setParse(() => (given: string) => configured.parse(given));
    });
    return () => {
      isOpen = false;
    };
  }, []);
  const drawn = useMemo(() => {
    if (parse === undefined || text.length > MOST_TEXT) return undefined;
    lastLevel = PAGE_LEVELS;
    return drawChildren(parse(text).topNode, text, 0);
  }, [parse, text]);
  return drawn === undefined ? <Code text={text} /> : <div class="markdown">{drawn}</div>;
}

/** Text between nodes counts, too. */
function drawChildren(node: SyntaxNode, text: string, depth: number): ComponentChildren[] {
  if (depth > MOST_DEPTH) return [showUnseen(text.slice(node.from, node.to))];
  const parts: ComponentChildren[] = [];
  let at = node.from;
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.from > at) parts.push(showUnseen(text.slice(at, child.from)));
    parts.push(drawNode(child, text, depth + 1));
    at = child.to;
  }
  if (at < node.to) parts.push(showUnseen(text.slice(at, node.to)));
  return parts;
}

/** Syntax marks, which are not drawn themselves. */
const MARKS: ReadonlySet<string> = new Set([
  "HeaderMark",
  "QuoteMark",
  "ListMark",
  "LinkMark",
  "EmphasisMark",
  "CodeMark",
  "CodeInfo",
  "StrikethroughMark",
  "TableDelimiter",
  "LinkTitle",
]);

const ELEMENTS: Readonly<Record<string, string>> = {
  Paragraph: "p",
  Blockquote: "blockquote",
  BulletList: "ul",
  OrderedList: "ol",
  ListItem: "li",
  Emphasis: "em",
  StrongEmphasis: "strong",
  Strikethrough: "s",
  Table: "table",
  TableHeader: "tr",
  TableRow: "tr",
  TableCell: "td",
};

function drawNode(node: SyntaxNode, text: string, depth: number): ComponentChildren {
  const { name } = node;
  if (MARKS.has(name)) return null;
  const heading = /^(?:ATX|Setext)Heading(\d)$/.exec(name)?.[1];
  const children = (): ComponentChildren[] => drawChildren(node, text, depth);
  if (heading !== undefined) {
    lastLevel = Math.min(6, Number(heading) + PAGE_LEVELS, lastLevel + 1);
    return createElement(`h${lastLevel}`, null, ...trimmed(children()));
  }
  const element = ELEMENTS[name];
  if (element !== undefined)
    return createElement(element, null, ...elementChildren(node, element, children()));
  const raw = text.slice(node.from, node.to);
  switch (name) {
    case "InlineCode":
      return <code>{markRedactions(withoutTicks(raw))}</code>;
    case "FencedCode":
    case "CodeBlock":
      return <Code text={codeText(node, text)} isWrapped={false} label="Code" />;
    case "Link":
    case "Autolink":
    case "URL":
      return drawLink(node, text, children);
    case "Image":
      return <span class="soft">{showUnseen(raw)}</span>;
    case "HorizontalRule":
      return <hr />;
    case "HardBreak":
      return <br />;
    case "Escape":
      return showUnseen(raw.slice(1));
    case "TaskMarker":
      return (
        <input
          type="checkbox"
          checked={/x/i.test(raw)}
          disabled
          aria-label={/x/i.test(raw) ? "done" : "open"}
        />
      );
    default:
      // HTML, entities and anything a later parser knows: as written.
      return showUnseen(raw);
  }
}

/** Counts instead of matching: a pattern would check each of a thousand marks a thousand times. */
function withoutTicks(raw: string): string {
  let ticks = 0;
  while (raw[ticks] === "`") ticks += 1;
  const inside = raw.slice(ticks, Math.max(ticks, raw.length - ticks));
  return inside.startsWith(" ") && inside.endsWith(" ") ? inside.slice(1, -1) : inside;
}

/** Between the parts of lists and tables there is only white space, which these elements may not hold as text. */
function elementChildren(
  node: SyntaxNode,
  element: string,
  children: ComponentChildren[],
): ComponentChildren[] {
  if (!/^(?:ul|ol|table|tr)$/.test(element)) return children;
  const parts = children.filter((child) => typeof child !== "string" && child !== null);
  return element === "table"
    ? [createElement("tbody", null, ...parts)]
    : node.name === "ListItem"
      ? children
      : parts;
}

function trimmed(children: ComponentChildren[]): ComponentChildren[] {
  return children.map((child, index) => (typeof child === "string" && index < 2 ? child.trimStart() : child));
}

function codeText(node: SyntaxNode, text: string): string {
  return node
    .getChildren("CodeText")
    .map(({ from, to }) => text.slice(from, to))
    .join("");
}

function drawLink(node: SyntaxNode, text: string, children: () => ComponentChildren[]): ComponentChildren {
  const place = node.name === "URL" ? node : node.getChild("URL");
  // Without an address it is text in brackets, as redaction writes it.
  if (place === null) return markRedactions(text.slice(node.from, node.to));
  const target = text.slice(place.from, place.to);
  const shown = node.name === "Link" ? linkText(node, text, children) : showUnseen(target);
  if (!/^(?:https?:\/\/|mailto:)/i.test(target)) return <span title={target}>{shown}</span>;
  return (
    <a href={target} rel="noreferrer noopener" target="_blank" title={target}>
      {shown}
    </a>
  );
}

/** The text of `[text](address "title")`. */
function linkText(node: SyntaxNode, text: string, children: () => ComponentChildren[]): ComponentChildren {
  const [, end] = node.getChildren("LinkMark");
  const start = node.firstChild;
  if (!end || !start || end.from <= start.to) return children();
  return showUnseen(text.slice(start.to, end.from));
}
