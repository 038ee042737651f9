/** Sections of long instructions: a numbered outline, and the text of one section. One pass, aware of code blocks. */
interface OutlineEntry {
  /** `2`, or `2.1` for its first subsection; `0` is the text before the first heading. */
  readonly number: string;
  /** 1 to 6; 0 for the text before the first heading. */
  readonly level: number;
  /** The words of the heading. */
  readonly title: string;
  /** 1-based lines of the body, both inclusive; subsections belong to it. */
  readonly firstLine: number;
  /** 1-based; the last line before the next heading of its level. */
  readonly lastLine: number;
}

interface Section extends OutlineEntry {
  /** With its heading. */
  readonly text: string;
}

/** A section whose end is unknown. */
interface OpenSection {
  readonly section: OutlineEntry & { lastLine: number };
  /** How many sections it has so far. */
  children: number;
}

interface Heading {
  readonly level: number;
  readonly title: string;
  readonly line: number;
}

/** Lists the sections of a skill's body in order; empty for an empty body. */
export function outline(body: string): readonly OutlineEntry[] {
  return body === "" ? [] : outlineLines(body.split(/\r?\n/));
}

/** By outline number (`2.1`), or by heading, ignoring case and punctuation; the first match counts. */
export function section(body: string, wanted: string | number): Section | undefined {
  const lines = body.split(/\r?\n/);
  const entries = body === "" ? [] : outlineLines(lines);
  const asked = String(wanted).trim();
  const number = asked.replace(/\.$/, "");
  const title = plainTitle(asked);
  const entry =
    entries.find((candidate) => candidate.number === number) ??
    (title === "" ? undefined : entries.find((candidate) => plainTitle(candidate.title) === title));
  if (entry === undefined) return undefined;
  const own = lines.slice(entry.firstLine - 1, entry.lastLine);
  return { ...entry, text: own.join("\n").trimEnd() };
}

function outlineLines(lines: readonly string[]): readonly OutlineEntry[] {
  const headings = findHeadings(lines);
  const firstHeading = headings[0]?.line ?? lines.length + 1;
  const beginning = lines.slice(0, firstHeading - 1);
  const entries: OutlineEntry[] = [];
  if (beginning.some((line) => line.trim() !== "")) {
    entries.push({ number: "0", level: 0, title: "", firstLine: 1, lastLine: firstHeading - 1 });
  }
  const open: OpenSection[] = [];
  let children = 0;
  for (const { level, title, line } of headings) {
    // A section ends before the next heading of its own or a higher level.
    while ((open.at(-1)?.section.level ?? 0) >= level) {
      const ended = open.pop();
      if (ended) ended.section.lastLine = line - 1;
    }
    const parent = open.at(-1);
    const number = parent ? `${parent.section.number}.${++parent.children}` : `${++children}`;
    const section = { number, level, title, firstLine: line, lastLine: lines.length };
    open.push({ section, children: 0 });
    entries.push(section);
  }
  return entries;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const HASHES = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
/** A line that a row of `=` or `-` can turn into a heading: plain text, not a list, quote, table or code. */
const UNDERLINED = /^ {0,3}(?!\d{1,9}[.)][ \t])[^\s>|#+*=<-]/;
const FRONTMATTER_MARK = /^---[ \t]*$/;
const FIELD = /^[a-z_][\w-]*[ \t]*:/i;

function findHeadings(lines: readonly string[]): readonly Heading[] {
  const headings: Heading[] = [];
  let fence: string | undefined;
  let previous = "";
  const bodyStart = findBodyStart(lines);
  for (const [index, line] of lines.entries()) {
    if (index < bodyStart) continue;
    const [, marks, info = ""] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      if (marks?.startsWith(fence) && info.trim() === "") fence = undefined;
      previous = "";
      continue;
    }
    if (marks !== undefined && !(marks.startsWith("`") && info.includes("`"))) {
      fence = marks;
      previous = "";
      continue;
    }
    const heading = readHeading(line, previous, index + 1);
    if (heading) headings.push(heading);
    previous = heading ? "" : line;
  }
  return headings;
}

/** The index of the first line after frontmatter, whose last field would look like an underlined heading. */
function findBodyStart(lines: readonly string[]): number {
  if (!FRONTMATTER_MARK.test(lines[0] ?? "") || !FIELD.test(lines[1] ?? "")) return 0;
  return lines.findIndex((line, index) => index > 0 && FRONTMATTER_MARK.test(line)) + 1;
}

function readHeading(line: string, previous: string, lineNumber: number): Heading | undefined {
  const [, hashes, title = ""] = HASHES.exec(line) ?? [];
  if (hashes !== undefined) {
    return { level: hashes.length, title: withoutClosingHashes(title.trim()), line: lineNumber };
  }
  const [, underline] = UNDERLINE.exec(line) ?? [];
  if (underline === undefined || !UNDERLINED.test(previous)) return undefined;
  return { level: underline.startsWith("=") ? 1 : 2, title: previous.trim(), line: lineNumber - 1 };
}

/** `Title ##` → `Title`. Without a pattern, which would be slow on long rows of `#`. */
function withoutClosingHashes(title: string): string {
  let end = title.length;
  while (end > 0 && title[end - 1] === "#") end--;
  if (end === title.length) return title;
  if (end === 0) return "";
  return /\s/.test(title[end - 1] ?? "") ? title.slice(0, end).trimEnd() : title;
}

function plainTitle(title: string): string {
  return title
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");
}
