/**
 * Splits HTML into texts and tags, in time that grows with its length and nothing else. Comments, declarations and
 * elements whose content is not for reading are left out. Any input is fine; nothing is repaired.
 */

export interface HtmlTag {
  readonly type: "open" | "close";
  /** Lower case. */
  readonly name: string;
  /** The tag's text behind its name. */
  readonly rest: string;
  /** Where the document goes on. */
  readonly end: number;
}

export type HtmlToken = HtmlTag | { readonly type: "text"; readonly text: string };

/** Left out with all they hold. */
const UNREADABLE = /^(?:script|style|template|iframe|object|svg|canvas|audio|video|noembed|noframes)$/;
/** Hold until the end of the document when they are not closed. */
const HOLDS_ALL = /^(?:script|style)$/;
const TAG_NAME = /[a-zA-Z][^\s/>]*/y;

export function* tokenizeHtml(html: string): Iterable<HtmlToken> {
  const skip = createSkipper(html);
  let at = 0;
  while (at < html.length) {
    const found = html.indexOf("<", at);
    const open = found === -1 ? html.length : found;
    if (open > at) yield { type: "text", text: html.slice(at, open) };
    if (found === -1) return;
    const tag = readTag(html, open);
    if (tag === undefined) {
      at = endOfOther(html, open);
      if (at === open + 1) yield { type: "text", text: html.slice(open, at) };
    } else if (tag.type === "open" && UNREADABLE.test(tag.name)) at = skip(tag.name, tag.end);
    else {
      yield tag;
      at = tag.end;
    }
  }
}

function readTag(html: string, open: number): HtmlTag | undefined {
  const isClosing = html[open + 1] === "/";
  TAG_NAME.lastIndex = open + (isClosing ? 2 : 1);
  const name = TAG_NAME.exec(html)?.[0];
  if (name === undefined) return undefined;
  const nameEnd = TAG_NAME.lastIndex;
  const end = endOfTag(html, nameEnd);
  const rest = html.slice(nameEnd, end - 1);
  return { type: isClosing ? "close" : "open", name: name.toLowerCase(), rest, end };
}

/** Behind a comment or declaration; one character on for a `<` that is only a character. */
function endOfOther(html: string, open: number): number {
  if (html.startsWith("<!--", open)) {
    const end = html.indexOf("-->", open + 2);
    return end === -1 ? html.length : end + 3;
  }
  if (!/[!?/]/.test(html[open + 1] ?? "")) return open + 1;
  const end = html.indexOf(">", open);
  return end === -1 ? html.length : end + 1;
}

/** Behind the `>`, of which a quoted value may have its own. */
function endOfTag(html: string, from: number): number {
  let at = from;
  let isValueNext = false;
  while (at < html.length) {
    const character = html[at] ?? "";
    if (character === ">") return at + 1;
    if (isValueNext && (character === '"' || character === "'")) {
      const close = html.indexOf(character, at + 1);
      if (close === -1) return html.length;
      at = close;
    }
    isValueNext = character === "=" || (isValueNext && /\s/.test(character));
    at++;
  }
  return at;
}

/** Finds the end of unreadable elements, and searches for the end of each kind in vain only once. */
function createSkipper(html: string): (name: string, from: number) => number {
  const unclosed = new Set<string>();
  return (name, from) => {
    if (unclosed.has(name)) return from;
    const closing = new RegExp(`</${name}(?=[\\s/>])`, "gi");
    closing.lastIndex = from;
    if (closing.test(html)) return endOfTag(html, closing.lastIndex);
    unclosed.add(name);
    return HOLDS_ALL.test(name) ? html.length : from;
  };
}
