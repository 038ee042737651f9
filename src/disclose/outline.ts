/** Sections of long instructions: an outline with numbers, and the text of one section. One pass, aware of code blocks. */
export interface OutlineEntry {
  /** `2`, or `2.1` for the first section within it; `0` is the text before the first heading. */
  readonly number: string;
  /** 1 to 6; 0 for the text before the first heading. */
  readonly level: number;
  readonly title: string;
  /** 1-based lines of the body, both included; the sections within it belong to it. */
  readonly firstLine: number;
  readonly lastLine: number;
}

export interface Section extends OutlineEntry {
  /** With its heading. */
  readonly text: string;
}

interface Heading {
  readonly level: number;
  readonly title: string;
  readonly line: number;
}

export function outline(body: string): readonly OutlineEntry[] {
  return body === "" ? [] : outlineLines(body.split(/\r?\n/));
}

/** By number as the outline gives it (`2.1`), or by heading, whatever its case and punctuation; the first one counts. */
export function section(body: string, wanted: string | number): Section | undefined {
  const lines = body.split(/\r?\n/);
  const entries = body === "" ? [] : outlineLines(lines);
  const asked = String(wanted).trim();
  const number = asked.replace(/\.$/, "");
  const title = plainTitle(asked);
  const entry =
    entries.find((candidate) => candidate.number === number) ??
    (title === "" ? undefined : entries.find((candidate) => plainTitle(candidate.title) === title));
  return (
    entry && {
      ...entry,
      text: lines
        .slice(entry.firstLine - 1, entry.lastLine)
        .join("\n")
        .trimEnd(),
    }
  );
}

function outlineLines(lines: readonly string[]): readonly OutlineEntry[] {
  const headings = findHeadings(lines);
  const firstHeading = headings[0]?.line ?? lines.length + 1;
  const beginning = lines.slice(0, firstHeading - 1);
  const entries: OutlineEntry[] = [];
  if (beginning.some((line) => line.trim() !== "")) {
    entries.push({ number: "0", level: 0, title: "", firstLine: 1, lastLine: firstHeading - 1 });
  }
  const ends = findEnds(headings, lines.length);
  const open: { readonly level: number; readonly number: string; children: number }[] = [];
  const top = { level: 0, number: "", children: 0 };
  for (const [position, { level, title, line }] of headings.entries()) {
    while ((open.at(-1)?.level ?? 0) >= level) open.pop();
    const parent = open.at(-1) ?? top;
    parent.children++;
    const number = parent === top ? `${parent.children}` : `${parent.number}.${parent.children}`;
    open.push({ level, number, children: 0 });
    entries.push({ number, level, title, firstLine: line, lastLine: ends[position] ?? lines.length });
  }
  return entries;
}

/** A section ends before the next heading of its own level or a higher one. */
function findEnds(headings: readonly Heading[], lastLine: number): readonly number[] {
  const ends: number[] = new Array(headings.length).fill(lastLine);
  const open: number[] = [];
  for (const [position, { level, line }] of headings.entries()) {
    while (open.length > 0 && (headings[open.at(-1) ?? 0]?.level ?? 0) >= level)
      ends[open.pop() ?? 0] = line - 1;
    open.push(position);
  }
  return ends;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const HASHES = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
/** A line that a row of `=` or `-` can turn into a heading: plain text, no list, quote, table or code. */
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

/** The index of the first line behind frontmatter, whose last field would look like an underlined heading. */
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

/** `Title ##` → `Title`. By hand, because a pattern that looks for the end is slow on long rows of `#`. */
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
