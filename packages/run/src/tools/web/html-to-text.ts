/**
 * A web page as plain text: its words, headings, lists, table rows and link targets. No layout, no scripts. Text and
 * tags are read in sequence, without a tree, so depth doesn't matter and time grows only with length.
 */
import { Tokenizer } from "htmlparser2";

/** Begin and end a paragraph. */
const PARAGRAPHS = /^(?:p|h[1-6]|ul|ol|dl|table|pre|blockquote|title|figure|form|article|section|main)$/;
/** Begin and end a line. */
const LINES =
  /^(?:br|div|li|tr|dt|dd|header|footer|nav|aside|address|figcaption|fieldset|legend|option|summary|hr|body|caption)$/;
const CELLS = /^t[dh]$/;
/** A longer address is data, not a link. */
const MAX_HREF = 4096;

/** `base`: the page's address, which its links are relative to. */
export function htmlToText(html: string, base: string): string {
  const page = new PageWriter();
  let pre = 0;
  let cells = 0;
  let link: string | undefined;
  const startLink = (next?: string): void => {
    if (link !== undefined) page.writeIfAny(` (${link})`);
    link = next;
    page.mark();
  };
  const passTag = (name: string, isOpening: boolean): void => {
    page.breakLine(breaksOf(name));
    if (name === "pre") pre = Math.max(0, pre + (isOpening ? 1 : -1));
    if (name === "tr") cells = 0;
    if (isOpening && CELLS.test(name) && cells++ > 0) page.writeWords(" | ");
    const opening = openingOf(name);
    if (opening !== "") page.begin(isOpening ? opening : "");
  };
  readTags(html, {
    open(name, href) {
      if (name === "a") startLink(resolveLink(href, base));
      passTag(name, true);
    },
    close(name) {
      if (name === "a") startLink();
      passTag(name, false);
    },
    text(text) {
      if (pre > 0) page.writeExact(text);
      else page.writeWords(text);
    },
  });
  startLink();
  return page.text();
}

function breaksOf(name: string): 0 | 1 | 2 {
  if (PARAGRAPHS.test(name)) return 2;
  return LINES.test(name) ? 1 : 0;
}

function openingOf(name: string): string {
  if (/^h[1-6]$/.test(name)) return `${"#".repeat(Number(name[1]))} `;
  return name === "li" ? "- " : "";
}

/** Where a link leads, unless that is within the page or not on the web. */
function resolveLink(written = "", base: string): string | undefined {
  const href = written.trim();
  if (href === "" || href.startsWith("#") || href.length > MAX_HREF) return undefined;
  const url = URL.parse(href, base);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

/** Joins words into lines and paragraphs, with at most one blank, line break or empty line between them. */
class PageWriter {
  readonly #parts: string[] = [];
  #breaks = 0;
  #isBlank = false;
  #opening = "";
  #marked = 0;

  /** Runs of blanks become one. */
  writeWords(text: string): void {
    const words = text.replace(/\s+/g, " ");
    if (words.startsWith(" ")) this.#isBlank = true;
    this.writeExact(words.trim());
    if (words.endsWith(" ")) this.#isBlank = true;
  }

  writeExact(text: string): void {
    if (text === "") return;
    const between = this.#breaks > 0 ? "\n".repeat(this.#breaks) : this.#isBlank ? " " : "";
    if (this.#parts.length > 0) this.#parts.push(between);
    this.#parts.push(this.#opening + text);
    this.#breaks = 0;
    this.#isBlank = false;
    this.#opening = "";
  }

  /** Precedes the next words; a later one, even an empty one, replaces it. */
  begin(opening: string): void {
    this.#opening = opening;
  }

  /** 1: the next words start a new line; 2: with an empty line before. */
  breakLine(breaks: 0 | 1 | 2): void {
    this.#breaks = Math.max(this.#breaks, breaks);
  }

  mark(): void {
    this.#marked = this.#parts.length;
  }

  /** Only if there were words since `mark`. */
  writeIfAny(text: string): void {
    if (this.#parts.length > this.#marked) this.#parts.push(text);
  }

  text(): string {
    return this.#parts.join("").trim();
  }
}

interface PageEvents {
  /** `href` as written, for a link that has one. */
  open(name: string, href: string | undefined): void;
  close(name: string): void;
  /** Character references are read. */
  text(text: string): void;
}

/** Left out with everything in them. */
const UNREADABLE = /^(?:script|style|template|iframe|object|svg|canvas|audio|video|noembed|noframes)$/;
/** Their content isn't markup, so they extend until they are closed. */
const RAW = /^(?:script|style|iframe|noembed|noframes)$/;
/** Soft hyphens and joiners, which only layout needs. */
const LAYOUT: ReadonlySet<number> = new Set([0xad, 0x200c, 0x200d]);

/** Leaves out comments, declarations and elements whose content isn't for reading. */
function readTags(html: string, events: PageEvents): void {
  const isClosed = createCloseFinder(html);
  let hidden: string | undefined;
  let name = "";
  let href: string | undefined;
  let isHref = false;
  const endTag = (end: number, isEmpty: boolean): void => {
    if (hidden !== undefined) return;
    if (!UNREADABLE.test(name)) events.open(name, href);
    else if (RAW.test(name) || (isClosed(name, end) && !isEmpty)) hidden = name;
  };
  const tokenizer = new Tokenizer(
    {},
    {
      ontext(start, end) {
        if (hidden === undefined) events.text(html.slice(start, end));
      },
      ontextentity(codepoint) {
        if (hidden === undefined && !LAYOUT.has(codepoint)) events.text(String.fromCodePoint(codepoint));
      },
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase();
        href = undefined;
      },
      onattribname(start, end) {
        isHref =
          name === "a" && href === undefined && end - start === 4 && /^href$/i.test(html.slice(start, end));
        if (isHref) href = "";
      },
      onattribdata(start, end) {
        if (isHref) href += html.slice(start, end);
      },
      onattribentity(codepoint) {
        if (isHref) href += String.fromCodePoint(codepoint);
      },
      onattribend() {
        isHref = false;
      },
      onopentagend: (end) => endTag(end, false),
      onselfclosingtag: (end) => endTag(end, true),
      onclosetag(start, end) {
        const closed = html.slice(start, end).toLowerCase();
        if (hidden === undefined) events.close(closed);
        else if (closed === hidden) hidden = undefined;
      },
      // Drawings have their own elements, which are closed as in XML.
      isInForeignContext: () => hidden === "svg",
      oncdata: leaveOut,
      oncomment: leaveOut,
      ondeclaration: leaveOut,
      onprocessinginstruction: leaveOut,
      onend: leaveOut,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
}

function leaveOut(): void {
  // Comments, declarations and the end have no text.
}

/** Whether an element is closed further on; searches for a missing end of each kind only once. */
function createCloseFinder(html: string): (name: string, from: number) => boolean {
  const unclosed = new Set<string>();
  return (name, from) => {
    if (unclosed.has(name)) return false;
    const closing = new RegExp(`</${name}(?=[\\s/>])`, "gi");
    closing.lastIndex = from;
    if (closing.test(html)) return true;
    unclosed.add(name);
    return false;
  };
}
