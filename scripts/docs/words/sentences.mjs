/**
 * The sentences of a text for people, each with its line. Of Markdown: prose, headings, list items and table cells. Code is
 * left out, but a piece of code inside a sentence counts as one word.
 */

/** @typedef {{ text: string, line: number, isCaption: boolean }} Sentence `isCaption`: a heading or a table cell */

const FENCE = /^\s*(```|~~~)/;
const ITEM = /^\s*(?:[-*+]|\d+\.|>) /;
/** Replaces code in a sentence. */
const CODE = "`…`";

/** @param {string} text @returns {readonly Sentence[]} */
export function markdownSentences(text) {
  return toSentences(blocksOf(text.split("\n")));
}

/** The output of `metier --help`: paragraphs, and one text for each option or command. @param {string} text @param {number} firstLine */
export function helpSentences(text, firstLine) {
  /** @type {Block[]} */
  const blocks = [];
  let isCode = false;
  for (const [index, line] of text.split("\n").entries()) {
    isCode = /^ {2}metier /.test(line) || (isCode && /^ {6}/.test(line));
    const isNew = line.trim() === "" || /^ {2}\S|^ +--\w/.test(line) || blocks.length === 0;
    if (isNew) blocks.push({ lines: [], isCaption: false });
    const said = line.replace(/^ {2,6}\S+(?: \S+)*(?: {2,}|$)/, ""); // without the column of names
    if (!isCode) blocks.at(-1)?.lines.push({ text: said.trim(), line: firstLine + index });
  }
  return toSentences(blocks);
}

/** A text in the code, such as a message. @param {string} text @param {number} line @param {boolean} isCaption */
export function plainSentences(text, line, isCaption) {
  return toSentences([{ lines: [{ text, line }], isCaption }]);
}

/** @typedef {{ lines: { text: string, line: number }[], isCaption: boolean }} Block */

/** @param {readonly string[]} lines @returns {readonly Block[]} */
function blocksOf(lines) {
  /** @type {Block[]} */
  const blocks = [];
  /** @type {Block | undefined} */
  let paragraph;
  for (const { text, line } of proseLines(lines)) {
    const captions = captionsIn(text);
    for (const caption of captions) blocks.push({ lines: [{ text: caption, line }], isCaption: true });
    if (captions.length > 0 || text.trim() === "") {
      paragraph = undefined;
      continue;
    }
    if (paragraph === undefined || ITEM.test(text)) {
      paragraph = { lines: [], isCaption: false };
      blocks.push(paragraph);
    }
    paragraph.lines.push({ text: text.replace(ITEM, ""), line });
  }
  return blocks;
}

/** Replaces each line that isn't prose with an empty one: frontmatter, code, comments. @param {readonly string[]} lines */
function proseLines(lines) {
  /** @type {RegExp | undefined} */
  let end;
  return lines.map((text, index) => {
    const isInside = end !== undefined;
    if (end?.test(text)) end = undefined;
    else if (!isInside && index === 0 && text === "---") end = /^---$/;
    else if (!isInside && FENCE.test(text)) end = FENCE;
    const isProse = !isInside && end === undefined && !/^\s*<!--.*-->\s*$/.test(text);
    return { text: isProse ? text : "", line: index + 1 };
  });
}

/** A heading, or the cells of a row. @param {string} text @returns {readonly string[]} */
function captionsIn(text) {
  if (/^#/.test(text)) return [text.replace(/^#+/, "")];
  return /^\s*\|/.test(text) ? text.replaceAll("\\|", "  ").split("|") : [];
}

/** @param {readonly Block[]} blocks @returns {readonly Sentence[]} */
function toSentences(blocks) {
  return blocks.flatMap(({ lines, isCaption }) => {
    /** @type {{ at: number, line: number }[]} */
    const starts = [];
    let whole = "";
    for (const { text, line } of lines) {
      starts.push({ at: whole.length, line });
      whole += `${text} `;
    }
    const plain = withoutMarkup(whole);
    // Markup is replaced by text of the same length, so a place in the sentence is a place in the file.
    return [...plain.matchAll(/\S.*?(?:[.!?][)"”’*_]*(?=\s+[A-Z`*“"(]|\s*$)|$)/g)].map((match) => ({
      text: squeeze(match[0]),
      line: starts.findLast(({ at }) => at <= match.index)?.line ?? lines[0]?.line ?? 1,
      isCaption,
    }));
  });
}

/** @param {string} text */
function withoutMarkup(text) {
  const blank = (/** @type {string} */ part) => "\u0000".repeat(part.length);
  return text
    .replace(/(`+)(?!`).*?[^`]\1(?!`)/g, (code) => CODE + blank(code.slice(CODE.length)))
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, (link, words) => words + blank(link.slice(words.length)))
    .replace(/<[^>\s][^>]*>/g, blank)
    .replace(/https?:\S+/g, blank);
}

/** @param {string} text */
function squeeze(text) {
  return text.replaceAll("\u0000", "").replace(/\s+/g, " ").trim();
}
