/** A web page as plain text: its words, headings, lists, table rows and where its links lead. No layout, no scripts. */
import { decodeEntities } from "./html-entities.ts";
import { tokenizeHtml } from "./html-tokens.ts";
import { createPageWriter } from "./page-writer.ts";

/** Begin and end a paragraph. */
const PARAGRAPHS = /^(?:p|h[1-6]|ul|ol|dl|table|pre|blockquote|title|figure|form|article|section|main)$/;
/** Begin and end a line. */
const LINES =
  /^(?:br|div|li|tr|dt|dd|header|footer|nav|aside|address|figcaption|fieldset|legend|option|summary|hr|body|caption)$/;
const CELLS = /^t[dh]$/;
const HREF = /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
const MAX_TAG = 4096;

/** `base`: the address of the page, which its links start at. */
export function htmlToText(html: string, base: string): string {
  const page = createPageWriter();
  let pre = 0;
  let cells = 0;
  let link: string | undefined;
  const startLink = (next?: string): void => {
    if (link !== undefined) page.writeIfAny(` (${link})`);
    link = next;
    page.mark();
  };
  for (const token of tokenizeHtml(html)) {
    if (token.type === "text") {
      const text = decodeEntities(token.text);
      if (pre > 0) page.writeExact(text);
      else page.writeWords(text);
      continue;
    }
    const { name } = token;
    const isOpening = token.type === "open";
    if (name === "a") startLink(isOpening ? resolveLink(token.rest, base) : undefined);
    page.breakLine(breaksOf(name));
    if (name === "pre") pre = Math.max(0, pre + (isOpening ? 1 : -1));
    if (name === "tr") cells = 0;
    if (isOpening && CELLS.test(name) && cells++ > 0) page.writeWords(" | ");
    const opening = openingOf(name);
    if (opening !== "") page.begin(isOpening ? opening : "");
  }
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

/** Where a link leads, unless that is within the page or nowhere on the web. */
function resolveLink(rest: string, base: string): string | undefined {
  const [, double, single, bare] = HREF.exec(rest.slice(0, MAX_TAG)) ?? [];
  const href = decodeEntities(double ?? single ?? bare ?? "").trim();
  if (href === "" || href.startsWith("#")) return undefined;
  const url = URL.parse(href, base);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
