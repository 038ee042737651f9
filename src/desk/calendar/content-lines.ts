/**
 * The lines of an iCalendar file (RFC 5545): folded, with parameters and escapes. Work is done with one character for
 * each byte, because a fold may cut a character in two; texts are decoded at the end.
 */
export interface ContentLine {
  /** In upper case. */
  readonly name: string;
  /** Names in upper case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** As it stands there, still escaped. */
  readonly value: string;
  /** The lines of the file that it takes: from, and up to but without. */
  readonly from: number;
  readonly to: number;
}

const MAX_FOLDED_OCTETS = 73;

/** Lines of a file, without their ends; what a file was read from can be put together again from them. */
export function splitLines(bytes: Buffer): readonly string[] {
  return bytes.toString("latin1").split(/\r\n|\n|\r/);
}

export function readContentLines(lines: readonly string[]): readonly ContentLine[] {
  const found: ContentLine[] = [];
  for (let from = 0; from < lines.length; ) {
    let to = from + 1;
    while (/^[ \t]/.test(lines[to] ?? "")) to++;
    const text = [lines[from], ...lines.slice(from + 1, to).map((line) => line.slice(1))].join("");
    const read = readContentLine(text);
    if (read) found.push({ ...read, from, to });
    from = to;
  }
  return found;
}

/** Values in quotes may hold what else would end them. */
const NAME = /^([A-Za-z0-9-]{1,100})/;
const PARAMETER = /;([A-Za-z0-9-]{1,100})=("[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*/y;

function readContentLine(text: string): Pick<ContentLine, "name" | "parameters" | "value"> | undefined {
  const name = NAME.exec(text)?.[1];
  if (name === undefined) return undefined;
  const parameters = new Map<string, string>();
  let at = name.length;
  PARAMETER.lastIndex = at;
  for (let match = PARAMETER.exec(text); match; match = PARAMETER.exec(text)) {
    const [whole, key = "", value = ""] = match;
    parameters.set(key.toUpperCase(), value.replace(/^"(.*)"$/s, "$1"));
    at += whole.length;
  }
  if (text[at] !== ":") return undefined;
  return { name: name.toUpperCase(), parameters, value: text.slice(at + 1) };
}

/** A value of type TEXT as people read it. */
export function readText(value: string): string {
  const text = Buffer.from(value, "latin1").toString("utf8");
  return text.replace(/\\([\\;,nN])/g, (_, escaped: string) => (/n/i.test(escaped) ? "\n" : escaped));
}

export function writeText(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[\\;,]/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replace(/\p{Cc}/gu, " ");
}

/** A line of text, folded between characters, with one character for each byte. */
export function foldLine(line: string): readonly string[] {
  const folded: string[] = [];
  let current = "";
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > MAX_FOLDED_OCTETS) {
      folded.push(current);
      current = " ";
      octets = 1;
    }
    current += character;
    octets += size;
  }
  return [...folded, current].map((part) => Buffer.from(part).toString("latin1"));
}

export function joinLines(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join("\r\n"), "latin1");
}
