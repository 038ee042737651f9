/** What the literals of Python and JavaScript stand for: quotes taken off, escapes read. */

/** With its prefix (`r`, `b`, `u`). */
export function unescapePython(literal: string): string {
  const [, prefix = "", quote = ""] = /^([a-z]*)('''|"""|'|")/i.exec(literal) ?? [];
  const inner = literal.slice(
    prefix.length + quote.length,
    literal.endsWith(quote) ? -quote.length : undefined,
  );
  return /r/i.test(prefix) ? inner : readEscapes(inner);
}

export function unescapeJavascript(literal: string): string {
  return readEscapes(literal.slice(1, /["'`]$/.test(literal) && literal.length > 1 ? -1 : undefined));
}

const SIMPLE: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  a: "\x07",
  "\n": "",
};
const ESCAPE =
  /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g;

function readEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(ESCAPE, (_, byte, short, braced, long, octal, plain: string | undefined) => {
    const hexadecimal: string | undefined = byte ?? short ?? braced ?? long;
    if (hexadecimal !== undefined) return codePoint(Number.parseInt(hexadecimal, 16));
    if (octal !== undefined) return codePoint(Number.parseInt(octal, 8));
    return SIMPLE[plain ?? ""] ?? plain ?? "";
  });
}

function codePoint(value: number): string {
  return value <= 0x10ffff ? String.fromCodePoint(value) : "";
}
